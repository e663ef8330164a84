"""Strict reading of UTF-8 text from plain or compressed files, and from streams; lines are split only at "\\n".

A byte order mark, with which some programs begin a text, is not part of its first line.  A line has at most
LONGEST_LINE bytes, so that a file without line ends is never read into memory as a whole.
"""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from weebill.errors import InputError

COMPRESSED = (".gz", ".xz", ".zst")  # compressions that are read
WRITTEN = (".gz", ".zst")
STANDARD_INPUT = "-"
OTHER_ARCHIVES = (".bz2", ".zip")  # neither read nor written
MAGIC = {
    ".gz": b"\x1f\x8b",
    ".xz": b"\xfd7zXZ",
    ".zst": b"\x28\xb5\x2f\xfd",
}  # first bytes; none is UTF-8
LONGEST_LINE = 1 << 20  # bytes without the line's end; hundreds of long paragraphs
LONGEST_RECORD = 1 << 28  # bytes of a line of JSON, which may contain a whole book or list
ANY_LENGTH = -1
BLOCK = 1 << 17  # bytes
# Largest memory, in bytes, that an .xz may request: four times that of `xz -9`.
LARGEST_DICTIONARY = 1 << 28


class Omitted(str):
    """Empty text in place of a line or cell that is too long; `fault` names it."""

    fault: str

    def __new__(cls, place: str, longest: int = LONGEST_LINE) -> "Omitted":
        text = super().__new__(cls)
        text.fault = f"{place}: more than {longest:,} bytes in one line"
        return text

    def refusal(self) -> InputError:
        """Return the error for readers that cannot omit text."""
        return InputError(f"{self.fault}; divide it, for instance into sentences, or remove it")


def check_suffix(path: str | Path, known: Sequence[str] = COMPRESSED) -> None:
    """Raise InputError if a name has the suffix of a compression that is not among the `known` ones.

    known: COMPRESSED for a file that is read, or WRITTEN.
    """
    suffix = Path(path).suffix
    if suffix in (*COMPRESSED, *OTHER_ARCHIVES) and suffix not in known:
        done = "read" if known == COMPRESSED else "written"
        raise InputError(
            f"{path}: text compressed as {suffix} is not {done}; use {', '.join(known[:-1])} or {known[-1]}, or "
            "plain text"
        )


class _Unpacked(io.RawIOBase):
    """Unpacked bytes of consecutive .xz or .bz2 archives; other bytes after them count as damage.

    Python's own readers take such bytes, and therefore also a damaged archive, for the end.
    """

    def __init__(self, packed: IO[bytes], suffix: str) -> None:
        self._packed = packed
        self._suffix = suffix
        self._archive: lzma.LZMADecompressor | bz2.BZ2Decompressor | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._packed.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Fill the beginning of a buffer; return the number of bytes, 0 at the end."""
        while True:
            if self._archive is None or self._archive.eof:
                rest = self._archive.unused_data.lstrip(b"\0") if self._archive else b""
                while not rest and (block := self._packed.read(BLOCK)):
                    rest = block.lstrip(b"\0")  # padding
                if not rest:
                    return 0
                self._archive = (
                    lzma.LZMADecompressor(memlimit=LARGEST_DICTIONARY)
                    if self._suffix == ".xz"
                    else bz2.BZ2Decompressor()
                )
            elif self._archive.needs_input:
                rest = self._packed.read(BLOCK)
                if not rest:
                    raise EOFError("the file ends inside an archive")
            else:
                rest = b""
            text = self._archive.decompress(rest, len(buffer))
            if text:
                buffer[: len(text)] = text
                return len(text)


def open_binary(path: str | Path, suffix: str | None = None) -> IO[bytes]:
    """Open `path` for reading bytes, decompressed if its name ends in .gz, .xz or .zst.

    suffix: compression of the file, also ".bz2", if the name does not decide; "" for none.

    Damaged data raises gzip's or lzma's errors, or an OSError without a number.
    Raises InputError if it cannot be read.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: a folder, expected a file")
    if not path.is_file():
        raise InputError(f"{path}: no such file; check the path")
    if suffix is None:
        check_suffix(path)
        suffix = path.suffix
    if suffix == ".gz":
        return gzip.open(path, "rb")
    if suffix in (".xz", ".bz2"):
        return io.BufferedReader(_Unpacked(path.open("rb"), suffix), BLOCK)
    if suffix == ".zst":
        import pyarrow as pa  # not installed in every environment that reads text

        # Arrow's reader is used, because zstandard's accepts a file that is cut inside a frame.
        return io.BufferedReader(pa.input_stream(path.open("rb"), compression="zstd"))
    file = path.open("rb")
    packed = next((s for s, magic in MAGIC.items() if file.peek(4).startswith(magic)), None)
    if packed is not None:
        file.close()
        raise InputError(f"{path}: compressed; let its name end in {packed}, or unpack it")
    return file


def bounded(text: str, place: str) -> str:
    """Return a text, or `Omitted` if it has more than LONGEST_LINE bytes."""
    short = (
        len(text) <= LONGEST_LINE // 4 or len(text.encode("utf-8", "surrogatepass")) <= LONGEST_LINE
    )
    return text if short else Omitted(place)


def read_lines(path: str | Path, longest: int = LONGEST_LINE) -> Iterator[str]:
    """Yield a file's lines without newlines, split only at "\\n".

    Raises InputError if it is not UTF-8 or damaged, or a line has more than `longest` bytes (ANY_LENGTH: no limit).
    """
    number = 0
    with open_binary(path) as file:
        try:
            lines = decoded_lines(file, str(path), longest)
            for number, line in enumerate(lines, start=1):  # noqa: B007
                yield line
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            if getattr(error, "errno", None) is not None:
                raise  # a disk error
            raise InputError(
                f"{path}: damaged or truncated after line {number} ({error}); fetch the file again"
            ) from error


def read_argument(path: str | Path) -> Iterator[str]:
    """Yield the lines of a command's argument, which is read once: "-", a pipe such as /dev/fd/63, or a file.

    The carriage returns of Windows' line ends are removed.  Raises the InputErrors of `read_lines`; text from a pipe
    is plain.
    """
    yield from (line.removesuffix("\r") for line in _written_lines(path))


def _written_lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a command's argument as they are written."""
    if str(path) == STANDARD_INPUT:
        yield from decoded_lines(standard_input(), "standard input")
    elif Path(path).is_fifo() or Path(path).is_char_device():
        with Path(path).open("rb") as stream:
            yield from decoded_lines(stream, str(path))
    else:
        yield from read_lines(path)


def check_counts(texts: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Raise InputError unless all texts, given as (name, lines), have the same number of lines."""
    counts = [(name, len(lines)) for name, lines in texts]
    if len({count for _, count in counts}) > 1:
        told = ", ".join(f"{name} has {count:,}" for name, count in counts)
        raise InputError(f"numbers of lines differ: {told}; give one line per segment")


def standard_input() -> IO[bytes]:
    """Return the stream of standard input.  Raises InputError if the caller has closed it."""
    if sys.stdin is None:
        raise InputError("standard input: closed, expected lines of text")
    return sys.stdin.buffer


def decoded_lines(stream: IO[bytes], name: str, longest: int = LONGEST_LINE) -> Iterator[str]:
    """Yield a stream's lines as text, without newlines.

    Raises InputError, which names the line, if a line is not UTF-8 or has more than `longest` bytes (ANY_LENGTH: no
    limit), or if the text is compressed, or all "lines" end only in carriage returns (old Mac text).
    """
    for line in lines_or_omitted(stream, name, longest):
        if isinstance(line, Omitted):
            raise line.refusal()
        yield line


def lines_or_omitted(stream: IO[bytes], name: str, longest: int = LONGEST_LINE) -> Iterator[str]:
    """Yield a stream's lines like `decoded_lines`, but `Omitted` for each line that is too long, which is skipped."""
    number, line = 0, b""
    whole = longest if longest == ANY_LENGTH else longest + 1
    for number, line in enumerate(iter(partial(stream.readline, whole), b""), start=1):
        if number == 1 and line.startswith(tuple(MAGIC.values())):
            raise InputError(f"{name}: compressed; unpack it by zcat, xzcat or zstdcat")
        if number == 1 and not line.endswith(b"\n"):
            _check_only_line(line, name)
        if len(line) == whole and not line.endswith(b"\n"):
            yield Omitted(f"{name}:{number}", longest)
            while line and not line.endswith(b"\n"):
                line = stream.readline(whole)
            continue
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
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
