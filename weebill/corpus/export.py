"""Export of tables to text files, with checked line counts."""

import gzip
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import zstandard

from weebill.corpus.table import count_rows, read_batches, shard_paths
from weebill.errors import InputError
from weebill.files import atomic_path
from weebill.text_files import WRITTEN, check_suffix, open_binary


def export_text(table: str | Path, files: Mapping[str, str | Path], kept: bool = True) -> int:
    """Write columns of a table to text files, one row per line, and return the number of rows.

    files: path by column, compressed if it ends in .gz or .zst.  All files appear together, with checked line counts.
    Raises InputError if a path cannot be written, a column is not text, or a row has no text or a text with a line
    break.
    """
    _check_paths(table, files)
    suffixes = {side: Path(path).suffix for side, path in files.items()}
    expected, written = count_rows(table, kept), 0
    with ExitStack() as stack:
        partial = {side: stack.enter_context(atomic_path(path)) for side, path in files.items()}
        with ExitStack() as opened:
            outputs = {
                side: opened.enter_context(_create(partial[side], suffix))
                for side, suffix in suffixes.items()
            }
            for batch in read_batches(table, list(files), kept):
                for side, output in outputs.items():
                    output.write(_lines(batch.column(side), table, side, written))
                written += batch.num_rows
        for side, path in files.items():
            lines = _count_lines(partial[side], suffixes[side])
            if lines != expected:
                raise InputError(
                    f"{path}: {lines:,} lines were written for {expected:,} rows; export again"
                )
    return written


def _check_paths(table: str | Path, files: Mapping[str, str | Path]) -> None:
    """Raise InputError, before anything is written, if files cannot be written or would replace each other."""
    taken = {shard.resolve(): "the table itself" for shard in shard_paths(table)}
    for side, path in files.items():
        check_suffix(path, WRITTEN)
        place = Path(path).resolve()
        if place.is_dir():
            raise InputError(f"{path}: a folder; name a file for --{side}")
        if place in taken:
            raise InputError(f"{path}: is {taken[place]}; name another file for --{side}")
        taken[place] = "the file of the other side"


def _lines(column: pa.Array, table: str | Path, side: str, start: int) -> bytes:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise InputError(f"{table}: column '{side}' holds {column.type}, not text")
    texts = column.to_pylist()
    for number, text in enumerate(texts, start=start):
        if text is None:
            raise InputError(f"{table}: row {number:,} has no {side}; leave out --{side}")
        if "\n" in text:
            raise InputError(f"{table}: row {number:,} has a line break in its {side}")
    return "".join(f"{text}\n" for text in texts).encode()


@contextmanager
def _create(path: Path, suffix: str) -> Iterator[IO[bytes]]:
    with path.open("wb") as raw:
        if suffix == ".gz":
            # Without name and time in the archive, equal text gives equal files.
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
                yield file
        elif suffix == ".zst":
            with zstandard.ZstdCompressor(level=6).stream_writer(raw, closefd=False) as file:
                yield file
        else:
            yield raw


def _count_lines(path: Path, suffix: str) -> int:
    with open_binary(path, suffix) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
