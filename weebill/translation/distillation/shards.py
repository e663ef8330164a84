"""Shards of a corpus, which separate jobs translate: their split, and the tables of shards and n-best lists."""

from pathlib import Path

import pyarrow as pa

from weebill.corpus.table import RowReader, TableWriter, count_rows
from weebill.errors import InputError
from weebill_runtime.names import Side

SPLIT_SCHEMA = pa.schema(
    [
        ("corpus", pa.string()),
        ("row", pa.int64()),
        ("source", pa.string()),  # the text to translate, from either side of the corpus
        ("target", pa.string()),  # the reference; null in monolingual text
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


def write_shard(
    corpus: str | Path,
    output: str | Path,
    shard: int,
    shards: int,
    parallel: bool,
    side: Side = "source",
) -> None:
    """Write a shard: one side of the corpus's kept rows and, if `parallel`, their references, which must exist."""
    begin, end = shard_bounds(count_rows(corpus), shards)[shard : shard + 2]
    columns = ["corpus", "row", side, *(["target"] if parallel else [])]
    rows = RowReader(corpus, columns, {side: "source"})
    for _ in rows.take(begin):
        pass
    with TableWriter(output, SPLIT_SCHEMA) as writer:
        for part in rows.take(end - begin):
            if not parallel:
                part = part.append_column("target", pa.nulls(part.num_rows, pa.string()))
            elif part["target"].null_count:
                raise InputError(
                    f"{corpus}: a row has no target; declare this corpus `use: monolingual`"
                )
            writer.write(part)


def shard_bounds(rows: int, shards: int) -> list[int]:
    """Return the first row of each shard of a corpus, and the end of the last: row i is in shard i·shards // rows."""
    return [-(-shard * rows // shards) for shard in range(shards + 1)]
