"""Text of test and validation sets, for the filter of training rows that share a side with it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from weebill.corpus.cleaning.normalise import folded, normalise
from weebill.corpus.table import read_batches
from weebill.experiment.corpora import Side


class HeldOut:
    """Sentences of test and validation sets, normalised and folded, in separate sets for source and target.

    sides: the sides of the corpus.  languages: their codes.  Memory depends on the held-out text, not on the corpus.
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
            keys.discard("")  # a line that is only punctuation never counts as an overlap
