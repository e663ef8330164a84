"""Strict reading of text: from files, plain or compressed, and streams in UTF-8, split on "\\n" only; from lists."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from weebill.errors import InputError

COMPRESSED = (".gz", ".zst")
STANDARD_INPUT = "-"
OTHER_ARCHIVES = (".bz2", ".xz", ".zip")  # neither read nor written


def check_suffix(path: str | Path) -> None:
    """Raise InputError if a name's suffix is that of a compression we do not read."""
    suffix = Path(path).suffix
    if suffix in OTHER_ARCHIVES:
        raise InputError(
            f"{path}: text compressed as {suffix} is neither read nor written; "
            f"use {' or '.join(COMPRESSED)}, or plain text"
        )


def open_binary(path: str | Path, suffix: str | None = None) -> IO[bytes]:
    """Open `path` for reading bytes, decompressed if its name, or `suffix`, ends in .gz or .zst.

    Damaged data raises gzip's errors, or an OSError without a number.  Raises InputError if it cannot be read.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: a folder, expected a file")
    if not path.is_file():
        raise InputError(f"{path}: no such file; check the path")
    check_suffix(path)
    suffix = path.suffix if suffix is None else suffix
    if suffix == ".gz":
        return gzip.open(path, "rb")
    if suffix == ".zst":
        import pyarrow as pa  # not installed in every environment that reads text

        # Arrow's reader, because zstandard's accepts a file that is cut inside a frame.
        return io.BufferedReader(pa.input_stream(path.open("rb"), compression="zstd"))
    return path.open("rb")


def read_lines(path: str | Path) -> Iterator[str]:
    """Yield a file's lines without newlines, split on "\\n" only.  Raises InputError if not UTF-8, or damaged."""
    number = 0
    with open_binary(path) as file:
        try:
            for number, line in enumerate(decoded_lines(file, str(path)), start=1):  # noqa: B007
                yield line
        except (EOFError, zlib.error, OSError) as error:
            if getattr(error, "errno", None) is not None:
                raise  # the disk's error
            raise InputError(
                f"{path}: damaged or truncated after line {number} ({error}); fetch the file again"
            ) from error


def read_argument(path: str | Path) -> Iterator[str]:
    """Yield the lines of a command's argument, which is read once: "-", a pipe such as /dev/fd/63, or a file.

    Raises InputError as `read_lines`; text from a pipe is plain.
    """
    if str(path) == STANDARD_INPUT:
        yield from decoded_lines(standard_input(), "standard input")
    elif Path(path).is_fifo() or Path(path).is_char_device():
        with Path(path).open("rb") as stream:
            yield from decoded_lines(stream, str(path))
    else:
        yield from read_lines(path)


def standard_input() -> IO[bytes]:
    """Return the stream of standard input.  Raises InputError if the caller has closed it."""
    if sys.stdin is None:
        raise InputError("standard input: closed, expected lines of text")
    return sys.stdin.buffer


def decoded_lines(stream: Iterable[bytes], name: str) -> Iterator[str]:
    """Yield a stream's lines as text, without newlines.

    Raises InputError naming a line that is not UTF-8, or if all "lines" end in carriage returns alone (old Mac text).
    """
    number, line = 0, b""
    for number, line in enumerate(stream, start=1):
        if number == 1 and not line.endswith(b"\n"):
            _check_only_line(line, name)
        try:
            yield line.removesuffix(b"\n").decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}:{number}: not UTF-8 (byte {error.object[error.start]:#04x} at column "
                f"{error.start + 1}); convert the text with iconv, or remove the line"
            ) from error
    if number == 1:
        _check_only_line(line, name)


def _check_only_line(line: bytes, name: str) -> None:
    """Raise InputError if the only line of a text has carriage returns inside."""
    if b"\r" in line.rstrip(b"\r\n"):
        raise InputError(
            f"{name}: its lines end in carriage returns alone; convert it by `tr '\\r' '\\n'`"
        )
