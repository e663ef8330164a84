"""Corpora as Parquet: one file, or a folder of shards `part-00000.parquet`, … read in name order.

Columns of a parallel corpus: `source`, `target` (null in monolingual text), `corpus`, `row` (line in the origin,
from 0), `dropped_by` (the first filter that rejected the row, null = kept); then scores, such as `weight`.
Damaged corpora also have `noise` (kind of damage, or null), and augmented text `augmented_by` (kind of change).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weebill.errors import InputError, nearest
from weebill.files import atomic_folder, atomic_path
from weebill.replaceable import FolderKind

PAIR = pa.schema({"source": pa.string(), "target": pa.string()})
SCHEMA = pa.schema(
    [*PAIR, ("corpus", pa.string()), ("row", pa.int64()), ("dropped_by", pa.string())]
)
AUGMENTED_BY = "augmented_by"
ROW_BYTES = 2048  # average bytes of a row before compression; sentences have a few hundred
_DIGITS = "[0-9]" * 5
# Pattern of our shards' names; shards of other programs have longer names.
SHARDS = FolderKind(perhaps=(f"part-{_DIGITS}.parquet", f"part-{_DIGITS}[0-9].parquet"))


def shard_name(number: int) -> str:
    """Return the file name of a shard of a table, numbered from 0."""
    return f"part-{number:05d}.parquet"


def shard_paths(path: str | Path) -> list[Path]:
    """Return the Parquet files of a table: the file itself, or a folder's shards in name order.

    Raises InputError if the table is missing or the folder holds no shard.
    """
    path = Path(path)
    if path.is_dir():
        shards = sorted(path.glob("part-*.parquet"))
        if not shards:
            raise InputError(f"{path}: no part-*.parquet in this folder; make the table again")
        return shards
    if not path.is_file():
        raise InputError(f"{path}: no such table; check the path")
    return [path]


def read_schema(path: str | Path) -> pa.Schema:
    """Read the schema of a table from its first shard.  Raises InputError if it is not Parquet."""
    return _open(shard_paths(path)[0]).schema_arrow


def read_batches(
    path: str | Path, columns: Sequence[str] | None = None, kept: bool = True, rows: int = 65536
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table in order, at most `rows` at a time, so that memory stays bounded.

    Fewer rows are read at a time where they are larger than ROW_BYTES on average.
    With `kept`, rows that a filter dropped are left out; a table without `dropped_by` has no such rows.
    Raises InputError if the table or a column is missing, or a file is damaged or not Parquet.
    """
    for shard in shard_paths(path):
        with _open(shard) as file:
            names = file.schema_arrow.names
            wanted = list(names if columns is None else columns)
            for name in wanted:
                if name not in names:
                    raise InputError(f"{shard}: no column '{name}'{nearest(name, names)}")
            select = kept and "dropped_by" in names
            read = [*wanted, "dropped_by"] if select and "dropped_by" not in wanted else wanted
            for batch in _sound(shard, _batches(file, read, rows)):
                if select:
                    batch = batch.filter(pc.is_null(batch.column("dropped_by")))
                batch = batch.select(wanted)
                if batch.num_rows:
                    yield batch


def _batches(file: pq.ParquetFile, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of `rows` rows; of fewer ones in row groups whose rows are larger than ROW_BYTES on average."""

    def most(number: int) -> int:
        group = file.metadata.row_group(number)
        return max(1, int(rows * ROW_BYTES * group.num_rows / max(group.total_byte_size, 1)))

    groups = range(file.metadata.num_row_groups)
    for size, some in groupby(groups, lambda number: min(rows, most(number))):
        yield from file.iter_batches(size, [*some], columns=columns, use_threads=False)


def read_columns(path: str | Path, columns: Sequence[str], kept: bool = True) -> pa.Table:
    """Read some columns of a whole table into memory.  Raises the same errors as `read_batches`."""
    batches = list(read_batches(path, columns, kept))
    if batches:
        return pa.Table.from_batches(batches)
    return pa.schema(map(read_schema(path).field, columns)).empty_table()


def side_texts(path: str | Path, side: str) -> Iterator[str]:
    """Yield the texts of one side of a table's kept rows.  Raises the same errors as `read_batches`."""
    for batch in read_batches(path, [side]):
        yield from batch.column(0).to_pylist()


def count_rows(path: str | Path, kept: bool = True) -> int:
    """Count the rows; only the files' metadata is read if no row has to be left out."""
    if kept and "dropped_by" in read_schema(path).names:
        return sum(batch.num_rows for batch in read_batches(path, ["dropped_by"]))
    total = 0
    for shard in shard_paths(path):
        with _open(shard) as file:
            total += file.metadata.num_rows
    return total


class RowReader:
    """Reader of a table's kept rows, in order, in pieces of any size; names: new names of columns."""

    def __init__(
        self, path: str | Path, columns: Sequence[str], names: Mapping[str, str] = {}
    ) -> None:
        renamed = [names.get(column, column) for column in columns]
        self._batches = (batch.rename_columns(renamed) for batch in read_batches(path, columns))

    def take(self, count: int) -> Iterator[pa.RecordBatch]:
        """Yield the next `count` rows, or all that are left."""
        while count > 0 and (batch := next(self._batches, None)):
            part = batch.slice(0, count)
            if part.num_rows < batch.num_rows:
                self._batches = chain([batch.slice(count)], self._batches)
            count -= part.num_rows
            yield part

    def take_column(self, count: int) -> pa.Array:
        """Return the next `count` values of the first column."""
        return pa.concat_arrays([part.column(0) for part in self.take(count)])


class TableWriter(ExitStack):
    """Writer of one Parquet file, which appears only if the `with` block succeeds."""

    def __init__(self, path: str | Path, schema: pa.Schema) -> None:
        super().__init__()
        self.path, self.schema, self.rows = Path(path), schema, 0

    def __enter__(self) -> "TableWriter":
        partial = self.enter_context(atomic_path(self.path))
        # Lines of text rarely repeat, so a dictionary would cost time and save nothing.
        repeating = [name for name in self.schema.names if name not in PAIR.names]
        options = {"compression": "zstd", "use_dictionary": repeating}
        self._writer = self.enter_context(pq.ParquetWriter(partial, self.schema, **options))
        return self

    def write(self, part: pa.RecordBatch | pa.Table) -> None:
        """Append rows; convert columns to the schema's order and types."""
        part = pa.table(part).select(self.schema.names).cast(self.schema)
        self._writer.write_table(part)
        self.rows += part.num_rows


class ShardWriter(ExitStack):
    """Writer of a folder of shards of `shard_rows` rows, which appears only if the block succeeds.

    An empty table still has one empty shard, so that its schema can be read.
    """

    def __init__(self, path: str | Path, schema: pa.Schema, shard_rows: int = 100_000) -> None:
        super().__init__()
        if shard_rows < 1:
            raise ValueError("shard_rows must be at least 1")
        self.path, self.schema, self.shard_rows = Path(path), schema, shard_rows
        self.rows = self._shards = 0
        self._open = ExitStack()
        self._shard: TableWriter | None = None

    def __enter__(self) -> "ShardWriter":
        self._folder = self.enter_context(atomic_folder(self.path, SHARDS))
        self.push(self._finish)
        return self

    def write(self, part: pa.RecordBatch | pa.Table) -> None:
        """Append rows; a part that crosses the end of a shard is divided."""
        part = pa.table(part)
        start = 0
        while start < part.num_rows:
            if self._shard is None:
                self._begin()
            taken = min(self.shard_rows - self._shard.rows, part.num_rows - start)
            self._shard.write(part.slice(start, taken))
            start += taken
            self.rows += taken
            if self._shard.rows == self.shard_rows:
                self._shard = None
                self._open.close()

    def _begin(self) -> None:
        path = self._folder / shard_name(self._shards)
        self._shard = self._open.enter_context(TableWriter(path, self.schema))
        self._shards += 1

    def _finish(self, *error) -> bool | None:
        if self._shards == 0 and error[0] is None:
            self._begin()
        return self._open.__exit__(*error)


def reverse(tables: Iterable[str | Path], output: str | Path) -> None:
    """Write the kept pairs of some tables as one table with source and target exchanged."""
    with TableWriter(output, PAIR) as writer:
        for table in tables:
            for batch in read_batches(table, PAIR.names):
                writer.write(pa.table(batch.columns[::-1], names=PAIR.names))


def write_table(path: str | Path, table: pa.Table) -> None:
    """Write a table in memory to one Parquet file, atomically."""
    with TableWriter(path, table.schema) as writer:
        writer.write(table)


def _open(path: Path) -> pq.ParquetFile:
    with _damage(path, "not a Parquet file"):
        return pq.ParquetFile(path)


def _sound(path: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a file; check that its pages can be read and its text is UTF-8."""
    with _damage(path, "a damaged Parquet file"):
        for batch in batches:
            batch.validate(full=True)  # Parquet itself accepts any bytes as text
            yield batch


@contextmanager
def _damage(path: Path, what: str) -> Iterator[None]:
    """Turn Arrow's errors about a file's contents into InputError; pass on disk errors, which have a number."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise
        said = " ".join(str(error).split())
        raise InputError(f"{path}: {what} ({said}); make the table again") from error
