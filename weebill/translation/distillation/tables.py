"""Tables of distillation: shards of a corpus, their n-best lists, and merged pairs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from weebill.corpus.table import read_batches

SPLIT_SCHEMA = pa.schema(
    [
        pa.field("corpus", pa.string()),
        pa.field("row", pa.int64()),
        pa.field("source", pa.string()),  # the text to translate, from either side of the corpus
        pa.field("target", pa.string()),  # the reference; null in monolingual text
    ]
)
NBEST_SCHEMA = pa.schema(
    [
        *SPLIT_SCHEMA,
        pa.field("hypotheses", pa.list_(pa.string())),  # best first
        pa.field("scores", pa.list_(pa.float64())),  # log p / length^length_normalisation
        pa.field("selected", pa.int32()),  # the hypothesis that students learn
    ]
)

MERGED_COLUMNS = ("source", "target", "corpus", "row")


def merged_schema(weighted: bool) -> pa.Schema:
    """Return the schema of merged pairs, with weights or without."""
    fields = [pa.field(name, SPLIT_SCHEMA.field(name).type) for name in MERGED_COLUMNS]
    return pa.schema([*fields, *([pa.field("weight", pa.float64())] if weighted else [])])


def shard_bounds(rows: int, shards: int) -> list[int]:
    """Return the first row of each shard of a corpus, and the end of the last: row i is in shard i·shards // rows."""
    return [-(-shard * rows // shards) for shard in range(shards + 1)]


class Rows:
    """Reader of the kept rows of a table, in order, in pieces of any size; names: columns' new names."""

    def __init__(
        self, path: str | Path, columns: Sequence[str], names: Mapping[str, str] | None = None
    ) -> None:
        names = names or {}
        renamed = [names.get(column, column) for column in columns]
        self._batches = (batch.rename_columns(renamed) for batch in read_batches(path, columns))
        self._rest: pa.RecordBatch | None = None

    def take(self, count: int) -> Iterator[pa.RecordBatch]:
        """Return the next `count` rows, or all that are left."""
        while count > 0:
            batch = self._rest if self._rest is not None else next(self._batches, None)
            if batch is None:
                return
            part, rest = batch.slice(0, count), batch.slice(count)
            self._rest = rest if rest.num_rows else None
            count -= part.num_rows
            yield part
