"""Text of test and validation sets, which no training row may share a side with."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from weebill.corpus.cleaning.normalise import folded, normalise
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
