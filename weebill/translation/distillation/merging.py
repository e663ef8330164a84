"""Verification of translated shards against their corpora, their merge into tables of pairs, and joins of tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.cleaning.repetition import stutters
from weebill.corpus.table import RowReader, TableWriter, count_rows, read_batches, read_schema
from weebill.errors import InputError
from weebill.translation.distillation.shards import NBEST_SCHEMA, SPLIT_SCHEMA, shard_bounds
from weebill_runtime.names import Side

MERGED_COLUMNS = ("source", "target", "corpus", "row")
WEIGHT = pa.field("weight", pa.float64())


@dataclass(frozen=True)
class Translated:
    """Corpus, the n-best tables of its shards in order, and the side that was translated."""

    corpus: str | Path
    shards: Sequence[str | Path]
    side: Side = "source"


def merge(
    parts: Sequence[Translated],
    output: str | Path,
    may_be_empty: bool = False,
    max_repeats: int = 0,
) -> dict[str, int]:
    """Verify every shard against its corpus and write each row's text and selected translation as a pair.

    The table has columns source, target, corpus and row; also weight, if a corpus has weights (null for the others).
    A row is left out if its translation is empty, or if the translation repeats a phrase more than `max_repeats`
    times in a row and its source does not (0: no limit).  Returns the numbers of rows read, written, empty and
    repetitive.  Raises InputError if a shard's rows differ from those of the corpus, or if no row is written, unless
    `may_be_empty`.
    """
    read = repetitive = 0
    with _writer(output, [part.corpus for part in parts]) as writer:
        for part in parts:
            for rows in _verified(part):
                read += rows.num_rows
                characters = pc.utf8_length(pc.utf8_trim_whitespace(rows["target"]))
                rows = rows.filter(pc.greater(characters, 0))
                if part.side == "target":
                    rows = rows.rename_columns({"source": "target", "target": "source"})
                if max_repeats:
                    looped = pa.array(_stutter_alone(rows, part.side, max_repeats), pa.bool_())
                    repetitive += pc.sum(looped).as_py() or 0
                    rows = rows.filter(pc.invert(looped))
                writer.write(_weighted(rows))
        written = writer.rows
    if not written and not may_be_empty:
        raise InputError(
            f"{output}: no translation is left to train on: of {read:,}, {read - repetitive:,} are empty and "
            f"{repetitive:,} repeat themselves; look at the cleaning, and train the teacher longer"
        )
    empty = read - written - repetitive
    return {"read": read, "written": written, "empty": empty, "repetitive": repetitive}


def _stutter_alone(rows: pa.Table, given: Side, most: int) -> list[bool]:
    """Return True for each row whose translation stutters while its other side, `given`, does not."""
    translated = "target" if given == "source" else "source"
    texts = zip(rows[given].to_pylist(), rows[translated].to_pylist(), strict=True)
    return [stutters(new, most) and not stutters(old, most) for old, new in texts]


def join(tables: Sequence[str | Path], output: str | Path) -> None:
    """Write the rows of merged tables that scores did not drop.  Raises InputError if no row is left."""
    with _writer(output, tables) as writer:
        for table in tables:
            for batch in read_batches(table, _columns(table, MERGED_COLUMNS)):
                writer.write(_weighted(pa.table(batch)))
        if not writer.rows:
            raise InputError(f"{output}: no translation is left; drop less by distillation.scores")


def _writer(output: str | Path, tables: Sequence[str | Path]) -> TableWriter:
    """Make the writer of merged pairs, with weights if one of the tables has them."""
    fields = [SPLIT_SCHEMA.field(name) for name in MERGED_COLUMNS]
    weighted = any(WEIGHT.name in read_schema(table).names for table in tables)
    return TableWriter(output, pa.schema([*fields, *([WEIGHT] * weighted)]))


def _columns(table: str | Path, names: Sequence[str]) -> list[str]:
    """Return the columns to read from a table: `names`, and the weights if it has them."""
    return [*names, *([WEIGHT.name] * (WEIGHT.name in read_schema(table).names))]


def _weighted(rows: pa.Table) -> pa.Table:
    """Return the rows with a weight column; it is null if they had none."""
    if WEIGHT.name in rows.column_names:
        return rows
    return rows.append_column(WEIGHT, pa.nulls(rows.num_rows, WEIGHT.type))


def _verified(part: Translated) -> Iterator[pa.Table]:
    """Yield the rows of a corpus in order: the translated text as source, the selected translation as target."""
    columns = _columns(part.corpus, [part.side, "corpus", "row"])
    expected_rows = RowReader(part.corpus, columns, {part.side: "source"})
    bounds = shard_bounds(count_rows(part.corpus), len(part.shards))
    for shard, (begin, end) in zip(part.shards, pairwise(bounds), strict=True):
        if (found := count_rows(shard)) != end - begin:
            raise InputError(
                f"{shard}: has {found:,} rows where its part of {part.corpus} has {end - begin:,}; "
                "delete this shard and run again"
            )
        for batch in read_batches(shard, NBEST_SCHEMA.names):
            expected = pa.Table.from_batches(expected_rows.take(batch.num_rows))
            _check_rows(shard, pa.table(batch), expected)
            yield expected.append_column("target", _selected(shard, batch))


def _check_rows(shard: str | Path, found: pa.Table, expected: pa.Table) -> None:
    for column in ("corpus", "row", "source"):
        if found[column].equals(expected[column]):
            continue
        pairs = zip(found[column].to_pylist(), expected[column].to_pylist(), strict=True)
        place = next(i for i, (one, other) in enumerate(pairs) if one != other)
        row, wanted = (table["row"][place].as_py() for table in (found, expected))
        fault = f"row {row}: {column} is not that of the corpus"
        if row != wanted:
            fault = f"row {row} of the corpus stands where row {wanted} belongs"
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
