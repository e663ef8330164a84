"""Selection by scores: each in turn drops the worst of the rows that the filters and earlier scores kept."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.scores.scoring import check_shards, kept_rows
from weebill.corpus.table import (
    SHARDS,
    RowReader,
    TableWriter,
    count_rows,
    read_batches,
    read_schema,
    shard_paths,
)
from weebill.errors import InputError
from weebill.experiment.scores import SCORES, Cut
from weebill.files import atomic_folder

log = logging.getLogger(__name__)

BEFORE = 255  # value for rows that were dropped before the scores


@dataclass(frozen=True)
class ScoreTable:
    """Score by its name in SCORES, with its table, its limit and the weights that it gives.

    weight_scale: the column `weight` becomes exp(weight_scale · score) (WNGT20 §3); there are no weights if it is 0.
    """

    name: str
    path: Path
    cut: Cut = field(default_factory=Cut)
    weight_scale: float = 0.0

    @property
    def column(self) -> str:
        """Column of the score."""
        return SCORES[self.name].column

    @property
    def sign(self) -> float:
        """Factor that turns scores into badness, whose highest values are worst."""
        return -1.0 if SCORES[self.name].higher_is_better else 1.0

    def badness(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of rows with their badness (rows,); NaN for rows without a score."""
        begin = 0
        for batch in read_batches(self.path, [self.column], kept=False):
            values = batch.column(0).to_numpy(zero_copy_only=False)
            yield slice(begin, begin + len(values)), self.sign * values
            begin += len(values)


def select(corpus: str | Path, output: str | Path, tables: Sequence[ScoreTable]) -> dict[str, int]:
    """Write the corpus with all its rows, the scores as columns, and the scores' names in `dropped_by`.

    output: a folder with the corpus' shards, or a file if the corpus is a file.  If scores are equal, the later row
    is worse.  Memory holds one byte per row.  Returns the number of rows that each score drops.
    Raises InputError if no row is left, or a table's rows are not those of the corpus.
    """
    shards = shard_paths(corpus)
    for table in tables:
        check_shards(table.path, corpus)
    dropped = np.concatenate([_dropped_before(shard) for shard in shards])
    kept = int((dropped == 0).sum())
    counts = {}
    for number, table in enumerate(tables, start=1):
        _drop_worst(dropped, number, table)
        counts[table.name] = int((dropped == number).sum())
        log.info("%s drops %s of %s rows", table.name, f"{counts[table.name]:,}", f"{kept:,}")
    if kept and not (dropped == 0).any():
        message = f"{corpus}: the scores leave none of {kept:,} rows ({counts}); drop less by them"
        raise InputError(message)
    if Path(corpus).is_dir():
        with atomic_folder(output, SHARDS) as folder:
            _write(shards, [folder / shard.name for shard in shards], tables, dropped)
    else:
        _write(shards, [Path(output)], tables, dropped)
    return counts


def _dropped_before(shard: Path) -> np.ndarray:
    """Return BEFORE for each row that a filter has dropped, and 0 for each other row, (rows,) uint8."""
    if "dropped_by" not in read_schema(shard).names:
        return np.zeros(count_rows(shard), np.uint8)
    kept = [kept_rows(batch) for batch in read_batches(shard, ["dropped_by"], kept=False)]
    return np.where(np.concatenate([np.zeros(0, bool), *kept]), 0, BEFORE).astype(np.uint8)


def _drop_worst(dropped: np.ndarray, number: int, table: ScoreTable) -> None:
    """Write `number` to `dropped`, (rows,) uint8, for the rows that a score drops; it is 0 for kept rows."""
    for rows, values in table.badness():
        wrong = np.isnan(values) != (dropped[rows] == BEFORE)
        if wrong.any():
            raise InputError(
                f"{table.path}: row {rows.start + wrong.argmax()} (from 0) is scored where the corpus has "
                "dropped it, or the other way round; delete this folder and run again"
            )
    if table.cut.threshold is not None:
        limit = table.sign * table.cut.threshold
        for rows, values in table.badness():
            dropped[rows][(dropped[rows] == 0) & (values > limit)] = number
    elif count := table.cut.count(int((dropped == 0).sum())):
        limit, kept_ties = _boundary(table, dropped, count)
        for rows, values in table.badness():
            left, keys = dropped[rows] == 0, _keys(values)
            ties = np.flatnonzero(left & (keys == limit))
            dropped[rows][left & (keys > limit)] = number
            dropped[rows][ties[kept_ties:]] = number
            kept_ties = max(0, kept_ties - len(ties))


def _keys(values: np.ndarray) -> np.ndarray:
    """Return keys (rows,), uint64, with the same order as the values."""
    bits = (values + 0.0).view(np.uint64)  # the sum turns -0.0 into 0.0
    top = np.uint64(1 << 63)
    return np.where(bits & top, ~bits, bits | top)


def _boundary(table: ScoreTable, dropped: np.ndarray, count: int) -> tuple[np.uint64, int]:
    """Return the key of the best of the `count` worst rows, and the number of rows with this key that are kept.

    Its four digits of 16 bits are found one by one, the highest first, so memory holds the counts of only one digit.
    """
    prefix = 0
    for shift in (48, 32, 16, 0):
        counts = np.zeros(1 << 16, np.int64)
        for rows, values in table.badness():
            keys = _keys(values[dropped[rows] == 0])
            if shift < 48:
                keys = keys[keys >> np.uint64(shift + 16) == np.uint64(prefix)]
            digits = (keys >> np.uint64(shift)) & np.uint64(0xFFFF)
            counts += np.bincount(digits.astype(np.int64), minlength=1 << 16)
        worse = np.cumsum(counts[::-1])[::-1]  # rows with this digit or a higher one
        digit = int(np.flatnonzero(worse >= count)[-1])
        count -= int(worse[digit] - counts[digit])
        prefix = prefix << 16 | digit
    return np.uint64(prefix), int(counts[digit]) - count


def _write(
    shards: Sequence[Path],
    outputs: Sequence[Path],
    tables: Sequence[ScoreTable],
    dropped: np.ndarray,
) -> None:
    names = pa.array([None, *(table.name for table in tables)], pa.string())
    scores = [RowReader(table.path, [table.column]) for table in tables]
    begin = 0
    for shard, output in zip(shards, outputs, strict=True):
        with TableWriter(output, _schema(shard, tables)) as writer:
            for batch in read_batches(shard, kept=False):
                columns = {name: batch.column(name) for name in batch.schema.names}
                mine = dropped[begin : begin + batch.num_rows]
                begin += batch.num_rows
                for table, score in zip(tables, scores, strict=True):
                    values = columns[table.column] = score.take_column(batch.num_rows)
                    if table.weight_scale:
                        weight = np.exp(table.weight_scale * values.to_numpy(zero_copy_only=False))
                        columns["weight"] = pa.array(weight, from_pandas=True)
                now = names.take(pa.array(np.where(mine == BEFORE, 0, mine)))
                before = columns.get("dropped_by", pa.nulls(len(now)))
                columns["dropped_by"] = pc.coalesce(before.cast(pa.string()), now)
                writer.write(pa.table(columns))


def _schema(shard: Path, tables: Sequence[ScoreTable]) -> pa.Schema:
    added = {"dropped_by": pa.string()} | {table.column: pa.float64() for table in tables}
    if any(table.weight_scale for table in tables):
        added["weight"] = pa.float64()
    return pa.unify_schemas([read_schema(shard), pa.schema(added)])
