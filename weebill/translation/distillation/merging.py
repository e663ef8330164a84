"""Verification of translated shards against their corpora, and their merge into one table of pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.table import TableWriter, count_rows, read_batches, read_schema
from weebill.errors import InputError
from weebill.experiment.corpora import Side
from weebill.translation.distillation.tables import NBEST_SCHEMA, Rows, merged_schema, shard_bounds


@dataclass(frozen=True)
class Translated:
    """Corpus, the n-best tables of its shards in order, and the side that was translated."""

    corpus: str | Path
    shards: Sequence[str | Path]
    side: Side = "source"


def merge(
    parts: Sequence[Translated], output: str | Path, may_be_empty: bool = False
) -> dict[str, int]:
    """Verify every shard against its corpus and write each row's text and selected translation as a pair.

    The table has columns source, target, corpus and row; also weight, if a corpus has weights (null for the others).
    Rows with an empty translation are left out.  Returns the numbers of rows read, written and empty.
    Raises InputError naming the shard if its rows are not exactly the rows of the corpus in order, and if no row is
    written, unless `may_be_empty`.
    """
    weighted = any("weight" in read_schema(part.corpus).names for part in parts)
    read = 0
    with TableWriter(output, merged_schema(weighted)) as writer:
        for part in parts:
            for rows in _verified(part, weighted):
                read += rows.num_rows
                rows = rows.filter(_not_empty(rows["target"]))
                if part.side == "target":
                    swapped = {"source": "target", "target": "source"}
                    rows = rows.rename_columns([swapped.get(n, n) for n in rows.column_names])
                writer.write(rows)
        written = writer.rows
    if not written and not may_be_empty:
        raise InputError(f"{output}: no translation is left to train on; look at the cleaning")
    return {"read": read, "written": written, "empty": read - written}


def _verified(part: Translated, weighted: bool) -> Iterator[pa.Table]:
    """Yield the rows of a corpus in order: the translated text as source, the selected translation as target."""
    has_weight = "weight" in read_schema(part.corpus).names
    columns = [part.side, "corpus", "row", *(["weight"] * has_weight)]
    expected_rows = Rows(part.corpus, columns, {part.side: "source"})
    bounds = shard_bounds(count_rows(part.corpus), len(part.shards))
    sizes = [end - begin for begin, end in pairwise(bounds)]
    for shard, size in zip(part.shards, sizes, strict=True):
        if (found := count_rows(shard)) != size:
            raise InputError(
                f"{shard}: has {found:,} rows where its part of {part.corpus} has {size:,}; "
                "delete this shard and run again"
            )
        for batch in read_batches(shard, NBEST_SCHEMA.names):
            expected = pa.Table.from_batches(expected_rows.take(batch.num_rows))
            _check_rows(shard, pa.table(batch), expected)
            rows = expected.append_column("target", _selected(shard, batch))
            if weighted and not has_weight:
                rows = rows.append_column("weight", pa.nulls(rows.num_rows, pa.float64()))
            yield rows


def _check_rows(shard: str | Path, found: pa.Table, expected: pa.Table) -> None:
    for column in ("corpus", "row", "source"):
        if found[column].equals(expected[column]):
            continue
        pairs = zip(found[column].to_pylist(), expected[column].to_pylist(), strict=True)
        place = next(i for i, (one, other) in enumerate(pairs) if one != other)
        row, wanted = (table["row"][place].as_py() for table in (found, expected))
        fault = (
            f"row {row} of the corpus stands where row {wanted} belongs"
            if row != wanted
            else f"row {row}: {column} is not that of the corpus"
        )
        raise InputError(f"{shard}: {fault}; delete this shard and run again")


def _selected(shard: str | Path, batch: pa.RecordBatch) -> pa.Array:
    """Return the selected hypothesis of each row.  Raises InputError for a row without one."""
    hypotheses = batch.column("hypotheses")
    selected = batch.column("selected").to_numpy(zero_copy_only=False)
    counts = hypotheses.value_lengths().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(~((selected >= 0) & (selected < counts)))
    if len(wrong):
        row = batch.column("row")[int(wrong[0])].as_py()
        raise InputError(f"{shard}: row {row} has no translation; delete this shard and run again")
    starts = hypotheses.offsets.to_numpy()[:-1]
    return hypotheses.values.take(pa.array(starts + selected, pa.int64()))


def _not_empty(text: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(text)), 0)
