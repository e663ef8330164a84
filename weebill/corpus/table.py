"""Corpora as Parquet: one file, or a folder of shards `part-00000.parquet`, … read in name order.

Columns of a parallel corpus: `source`, `target` (null in monolingual text), `corpus`, `row` (line in the origin,
from 0), `dropped_by` (the first filter that rejected the row, null = kept); then scores, such as `weight`.
Corpora that were damaged on purpose also have `noise` (the kind of damage, null = none).  Augmented training text
has `augmented_by` (the kind of change of a copied row, null = none).
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weebill.errors import InputError, nearest
from weebill.files import atomic_folder, atomic_path
from weebill.replaceable import FolderKind

SCHEMA = pa.schema(
    [
        pa.field("source", pa.string()),
        pa.field("target", pa.string()),
        pa.field("corpus", pa.string()),
        pa.field("row", pa.int64()),
        pa.field("dropped_by", pa.string()),
    ]
)
AUGMENTED_BY = "augmented_by"
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

    With `kept`, rows that a filter dropped are left out; a table without `dropped_by` has none.
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
            for batch in _sound(shard, file.iter_batches(rows, columns=read, use_threads=False)):
                if select:
                    batch = batch.filter(pc.is_null(batch.column("dropped_by")))
                batch = batch.select(wanted)
                if batch.num_rows:
                    yield batch


def read_columns(path: str | Path, columns: Sequence[str], kept: bool = True) -> pa.Table:
    """Read some columns of a whole table into memory.  Raises errors as `read_batches`."""
    schema = read_schema(path)
    batches = list(read_batches(path, columns, kept))
    if batches:
        return pa.Table.from_batches(batches)
    for name in columns:
        if name not in schema.names:
            raise InputError(f"{path}: no column '{name}'{nearest(name, schema.names)}")
    return pa.schema([schema.field(name) for name in columns]).empty_table()


def side_texts(path: str | Path, side: str) -> Iterator[str]:
    """Yield the texts of one side of a table's kept rows.  Raises errors as `read_batches`."""
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


class TableWriter:
    """Writer of one Parquet file, which appears only if the `with` block succeeds."""

    def __init__(self, path: str | Path, schema: pa.Schema) -> None:
        self.path = Path(path)
        self.schema = schema
        self.rows = 0
        self._stack = ExitStack()

    def __enter__(self) -> "TableWriter":
        partial = self._stack.enter_context(atomic_path(self.path))
        self._writer = self._stack.enter_context(
            # Lines of text hardly repeat, so a dictionary would cost time and save nothing.
            pq.ParquetWriter(
                partial,
                self.schema,
                compression="zstd",
                use_dictionary=[n for n in self.schema.names if n not in ("source", "target")],
            )
        )
        return self

    def write(self, part: pa.RecordBatch | pa.Table) -> None:
        """Append rows; convert columns to the schema's order and types."""
        part = pa.table(part).select(self.schema.names).cast(self.schema)
        self._writer.write_table(part)
        self.rows += part.num_rows

    def __exit__(self, *error) -> bool | None:
        return self._stack.__exit__(*error)


class ShardWriter:
    """Writer of a folder of shards of `shard_rows` rows, which appears only if the block succeeds.

    An empty table still has one empty shard, so that its schema can be read.
    """

    def __init__(self, path: str | Path, schema: pa.Schema, shard_rows: int = 100_000) -> None:
        if shard_rows < 1:
            raise ValueError("shard_rows must be at least 1")
        self.path = Path(path)
        self.schema = schema
        self.shard_rows = shard_rows
        self.rows = 0
        self._stack = ExitStack()
        self._shard: TableWriter | None = None
        self._shards = 0

    def __enter__(self) -> "ShardWriter":
        self._folder = self._stack.enter_context(atomic_folder(self.path, SHARDS))
        return self

    def write(self, part: pa.RecordBatch | pa.Table) -> None:
        """Append rows; a part that crosses the end of a shard is divided."""
        part = pa.table(part)
        start = 0
        while start < part.num_rows:
            if self._shard is None:
                self._open_shard()
            taken = min(self.shard_rows - self._shard.rows, part.num_rows - start)
            self._shard.write(part.slice(start, taken))
            start += taken
            self.rows += taken
            if self._shard.rows == self.shard_rows:
                self._close_shard()

    def _open_shard(self) -> None:
        path = self._folder / shard_name(self._shards)
        self._shard = TableWriter(path, self.schema).__enter__()
        self._shards += 1

    def _close_shard(self, *error) -> None:
        shard, self._shard = self._shard, None
        shard.__exit__(*(error or (None, None, None)))

    def __exit__(self, *error) -> bool | None:
        try:
            if self._shard is not None:
                self._close_shard(*error)
            elif self._shards == 0 and error[0] is None:
                self._open_shard()
                self._close_shard()
        except BaseException as failure:
            self._stack.__exit__(type(failure), failure, failure.__traceback__)
            raise
        return self._stack.__exit__(*error)


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
    """Turn Arrow's errors about a file's contents into InputError; pass errors of the disk, which have a number."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise
        said = " ".join(str(error).split())
        raise InputError(f"{path}: {what} ({said}); make the table again") from error
