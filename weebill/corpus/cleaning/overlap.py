"""Filter of training rows that share a side with a test or validation set."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from weebill.corpus.cleaning.folding import folded
from weebill.corpus.cleaning.pairs import Context, Pairs, none
from weebill_runtime.names import Side


class HeldOut:
    """Sentences of test and validation sets, prepared and folded, in separate sets for source and target.

    sides: the sides of the corpus.  languages: their codes.  prepared: function that prepares lines of a language
    like the corpus, so that equal lines stay equal.  Memory depends on the held-out text, not on the corpus.
    """

    def __init__(
        self,
        tables: Iterable[str | Path],
        sides: Sequence[Side],
        languages: Sequence[str],
        prepared: Callable[[list[str], str], list[str]],
    ) -> None:
        from weebill.corpus.table import read_batches  # loads Arrow

        self.keys: tuple[set[str], ...] = tuple(set() for _ in sides)
        for table in tables:
            for batch in read_batches(table, sides):
                columns = zip(self.keys, batch.columns, languages, strict=True)
                for keys, column, language in columns:
                    lines = [line for line in column.to_pylist() if line]
                    keys.update(folded(prepared(lines, language)))
        for keys in self.keys:
            keys.discard("")  # a line that is only punctuation never counts as an overlap


def test_overlap(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs if a side is also in the held-out text; case, punctuation and white space are ignored."""
    rejected = none(pairs)
    if context.held_out is not None:
        for texts, keys in zip(pairs.sides, context.held_out.keys, strict=True):
            rejected |= np.fromiter((text in keys for text in folded(texts)), bool, len(texts))
    return rejected


test_overlap.__test__ = False  # pytest must not collect it because of its name
