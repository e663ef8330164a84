"""Strict reading of corpus text: files, members of archives, pairs of both, and tables.  Lines end only at "\\n"."""

import errno
import gzip
import io
import logging
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import IO

from weebill.corpus.download import again
from weebill.corpus.importers import Rows
from weebill.errors import InputError
from weebill.text_files import LONGEST_LINE, Omitted, bounded, lines_or_omitted, open_binary
from weebill_runtime.names import Side

log = logging.getLogger(__name__)

IN_FILES = re.compile(r"[\x00\t]")  # forbidden in a line of a pair of files
IN_TABLES = re.compile(r"\x00")
SURROGATES = r"\ud800-\udfff"  # halves of a character: JSON can contain a single one, UTF-8 cannot
IN_CELLS = re.compile(rf"[\x00\t\n{SURROGATES}]")  # forbidden in a text of a data set, not a line
NAMES = {"\x00": "a NUL character", "\t": "a tab", "\n": "a line break"}
HALF = "half a character (a lone surrogate)"

BLOCK = 1 << 20
# zipfile raises RuntimeErrors for members that are encrypted or packed by unknown methods, OverflowError for an
# offset that is too large, and UnicodeDecodeError for a bad member name.
_DAMAGE = (
    *(EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, OSError),
    *(RuntimeError, OverflowError, UnicodeDecodeError),
)


@dataclass(frozen=True)
class TextFile:
    """Text in a file, or in the only member of an archive whose name matches a pattern.

    suffix: ".zip" or ".tgz" for archives, else ".gz", ".zst", ".xz", ".bz2" or "" (plain).  Default: the file's own.
    """

    path: Path
    member: str | None = None
    suffix: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}/{self.member}"


def member_names(text: TextFile) -> list[str]:
    """Return the names of an archive's members that match `text.member`, in the archive's order."""
    with damage(text.path, lambda: ""):
        if text.suffix == ".zip":
            with zipfile.ZipFile(text.path) as archive:
                names = archive.namelist()
        else:
            with gzip.open(text.path, "rb") as packed:
                with tarfile.open(fileobj=packed, mode="r|") as archive:
                    names = [member.name for member in archive if member.isfile()]
                # Read to the end, with its checksum, because tarfile takes a damaged header for the end.
                while packed.read(BLOCK):
                    pass
    return [name for name in names if fnmatchcase(name, text.member)]


@contextmanager
def open_text(text: TextFile) -> Iterator[IO[bytes]]:
    """Open the unpacked bytes of a text.  Raises InputError if no member of an archive, or several, match."""
    if text.member is None:
        with open_binary(text.path, text.suffix) as stream:
            yield stream
        return
    names = member_names(text)
    if len(names) != 1:
        found = ", ".join(names) if names else "none"
        raise InputError(
            f"{text.path}: expected one member '{text.member}', found {found}; this is no archive of "
            f"this corpus, {again(text.path)}"
        )
    if text.suffix == ".zip":
        with zipfile.ZipFile(text.path) as archive, archive.open(names[0]) as stream:
            yield io.BufferedReader(
                stream, BLOCK
            )  # the stream's own reading of lines of limited length is slow
    else:  # compressed data can only be read from the beginning
        with gzip.open(text.path) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            yield next(archive.extractfile(one) for one in archive if one.name == names[0])


def lines(text: TextFile, longest: int = LONGEST_LINE) -> Iterator[str]:
    """Yield the lines of a text without their newline; `Omitted` for a line of more than `longest` bytes.

    Raises InputError, which names file and line, if a line is not UTF-8 or the packed data is damaged.
    """
    number = 0
    with damage(text, lambda: f" after line {number}"), open_text(text) as stream:
        found = lines_or_omitted(stream, str(text), longest)
        for number, line in enumerate(found, start=1):  # noqa: B007
            yield line


@contextmanager
def damage(name: TextFile | Path, where: Callable[[], str]) -> Iterator[None]:
    """Turn errors about damaged packed data into InputError; disk errors, which have a number, pass unchanged.

    where: function that returns the position up to which the text was read.
    """
    try:
        yield
    except _DAMAGE as error:
        outside = errno.EINVAL  # a place outside the file
        if getattr(error, "errno", None) not in (None, outside):
            raise
        reason = " ".join(str(error).split())  # tarfile's messages may have several lines
        path = name.path if isinstance(name, TextFile) else name
        message = f"{name}: damaged or truncated{where()} ({reason}); {again(path)}"
        raise InputError(message) from error


@dataclass(frozen=True)
class Controls:
    """Treatment of control characters inside a text: `error` or `replace` (by a space)."""

    choice: str = "error"

    def text(self, name: object, number: int, text: str, forbidden: re.Pattern[str]) -> str:
        """Return the text without forbidden characters, or `Omitted` if it is too long.

        Raises InputError, which names file and line, if they must not be replaced.
        """
        if len(text) > LONGEST_LINE // 4:
            text = bounded(text, f"{name}:{number}")
        found = forbidden.search(text)
        if found is None:
            return text
        if self.choice == "error":
            raise InputError(
                f"{name}:{number}: {NAMES.get(found[0], HALF)} inside the line; mend the line, or set "
                "`control_characters: replace` to read it as a space"
            )
        return forbidden.sub(" ", text)

    def report(self, name: object, lines: int, replaced: int) -> None:
        """Raise InputError if a file was empty; log the number of lines with replaced characters."""
        if not lines:
            raise InputError(f"{name}: empty file; a corpus has at least one line")
        if replaced:
            log.info("%s: control characters replaced by spaces in %s lines", name, f"{replaced:,}")

    def checked(
        self, name: object, texts: Iterable[str], forbidden: re.Pattern[str]
    ) -> Iterator[str]:
        """Yield the lines of a non-empty file without forbidden characters.  Raises the same errors as `text`."""
        number = replaced = 0
        for number, given in enumerate(texts, start=1):
            text = self.text(name, number, given, forbidden)
            replaced += text != given
            yield text
        self.report(name, number, replaced)

    def lines(self, text: TextFile) -> Iterator[str]:
        """Return the checked lines of a text, as an iterator."""
        return self.checked(text, lines(text), IN_FILES)

    def sides(self, texts: list[TextFile], monolingual: Side | None) -> Rows:
        """Yield the pairs of two texts, or the lines of the only text, whose other side is None."""
        if monolingual is None:
            return self.pairs(*texts)
        one = monolingual == "source"
        return ((line, None) if one else (None, line) for line in self.lines(texts[0]))

    def pairs(self, source: TextFile, target: TextFile) -> Rows:
        """Yield pairs of lines of two texts.  Raises InputError if one text has more lines than the other."""
        sources, targets = self.lines(source), self.lines(target)
        for number, pair in enumerate(zip_longest(sources, targets), start=1):
            if None in pair:
                ends = zip(pair, (sources, targets), strict=True)
                counts = [number - (line is None) + sum(1 for _ in rest) for line, rest in ends]
                raise InputError(
                    f"{source} has {counts[0]:,} lines and {target} has {counts[1]:,}; "
                    "the sides of a corpus must have one line per pair"
                )
            yield pair

    def table(self, text: TextFile, source: int | None, target: int | None) -> Rows:
        """Yield two columns of tab-separated lines, counted from 0; values are None for a column that is None."""
        columns = (source, target)
        last = max(column for column in columns if column is not None)
        for number, line in enumerate(self.checked(text, lines(text), IN_TABLES), start=1):
            values = [line] * (last + 1) if isinstance(line, Omitted) else line.split("\t")
            if len(values) <= last:
                raise InputError(
                    f"{text}:{number}: {len(values)} tab-separated columns, expected at least "
                    f"{last + 1}; mend the line or `columns`"
                )
            yield tuple(None if column is None else values[column] for column in columns)
