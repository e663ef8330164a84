"""Training rows that share a side with a test or validation set."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from weebill.corpus.cleaning.normalise import folded, normalise
from weebill.corpus.cleaning.pairs import Context, Pairs, none
from weebill.corpus.table import read_batches
from weebill.experiment.corpora import Side


class HeldOut:
    """The sentences of test and validation sets, normalised and folded, source and target apart.

    sides: that the corpus has, with their languages.  Memory is that of the held-out text, not of the corpus.
    """

    def __init__(
        self, tables: Iterable[str | Path], sides: Sequence[Side], languages: Sequence[str]
    ) -> None:
        self.keys: tuple[set[str], ...] = tuple(set() for _ in sides)
        for table in tables:
            for batch in read_batches(table, sides):
                columns = zip(self.keys, batch.columns, languages, strict=True)
                for keys, column, language in columns:
                    texts = [text for text in column.to_pylist() if text]
                    keys.update(folded(normalise(texts, language)))
        for keys in self.keys:
            keys.discard("")  # a line of punctuation alone overlaps nothing


def test_overlap(pairs: Pairs, context: Context) -> np.ndarray:
    """A side that equals the same side of a held-out sentence but for case, punctuation, space."""
    rejected = none(pairs)
    if context.held_out is not None:
        for texts, keys in zip(pairs.sides, context.held_out.keys, strict=True):
            found = (text in keys for text in folded(texts))
            rejected |= np.fromiter(found, bool, len(texts))
    return rejected


test_overlap.__test__ = False  # its name says what it finds; pytest need not try it
