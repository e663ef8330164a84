"""Importers of corpora, and their base classes.

An importer is a frozen dataclass of its configuration keys, and yields rows.  To add one, write a subclass of
`Importer` or `FromFiles` in a new module, and enter it in `entries.IMPORTERS`.  Modules of importers load heavy
libraries inside functions, because the configuration also reads the keys.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, get_args, get_type_hints

from weebill.corpus.download import is_url
from weebill.corpus.sources import Places, Problem, Source
from weebill.errors import InputError, Key
from weebill.experiment.corpora import Entry, kind_of, sides_of
from weebill.settings import Count, Located, Place, section
from weebill_runtime.names import SIDES, Side

Languages = tuple[str, str]  # codes of source and target
Sources = list[Source]
Rows = Iterator[tuple[str | None, str | None]]  # source and target; monolingual text has one


class Importer:
    """Base of all importers.  The argument `monolingual` is the text's only side, or None for parallel text.

    The class methods check an entry of a configuration before an importer is made from it.
    by_language: True if data sets are published in some languages only, which `unpublished` checks.
    """

    by_language = False

    @classmethod
    def file_keys(cls) -> list[str]:
        """List the keys that name files, folders or addresses of text: those of the type `Place`."""
        hints = get_type_hints(cls, include_extras=True)
        kinds = {name: (hint, *get_args(hint)) for name, hint in hints.items()}
        return [
            name
            for name, several in kinds.items()
            if name not in ("local_dir", "origlang")
            and any(Located() in getattr(k, "__metadata__", ()) for k in several)
        ]

    @classmethod
    def faults(cls, entry: Entry) -> Iterator[Problem]:
        """Find contradictions among the keys of an entry."""
        yield from ()

    @classmethod
    def unpublished(cls, entry: Entry, languages: Languages) -> Iterator[Problem]:
        """Find names of data sets that are not published in these languages."""
        yield from ()

    @classmethod
    def origins(cls, values: Mapping[str, Any]) -> set[str]:
        """Name the data that an entry reads; entries with equal names read the same data."""
        paths = [values[key] for key in cls.file_keys() if key in values]
        return {f"'{path if is_url(path) else posixpath.normpath(path)}'" for path in paths}

    def local_files(self) -> list[str]:
        """Return the user's own files that the importer reads."""
        return []

    def sources(self, languages: Languages, monolingual: Side | None, places: Places) -> Sources:
        """Return all files that the importer reads.  Raises InputError if they cannot be determined."""
        return []

    def rows(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield source and target of each row in order; a missing side is None.

        sources: the importer's files, each with its local `path`.  Raises InputError if their contents are wrong.
        """
        raise NotImplementedError

    def read(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the rows that the entry selects: all, or those in its `lines`.  Raises the errors of `rows`."""
        return self.rows(sources, languages, monolingual)


@section
class Lines:
    """Range of lines in a text."""

    first: Count = 1
    """First line that is read, counted from 1."""
    last: Count | None = None
    """Last line that is read; it must exist. By default the last line of the text."""

    def __post_init__(self) -> None:
        if self.last is not None and self.last < self.first:
            raise InputError(f"`lines` from {self.first} to {self.last} are none")

    def of(self, rows: Rows, place: str, whole: bool = False) -> Rows:
        """Yield the rows of the range.  Raises InputError, which names `place`, if there are too few rows.

        whole: also read all later rows, to find sides of unequal length, whose pairs may all be wrong.
        """
        number, named = 0, self.last or self.first
        for number, row in enumerate(rows if whole else islice(rows, self.last), start=1):
            if self.first <= number <= (self.last or number):
                yield row
        if number < named:
            raise InputError(
                f"{place}: has {number:,} lines, `lines` names the {named:,}th; name one that is there"
            )


class FromFiles(Importer):
    """Base of importers of files.  Its keys come after those of the importer.

    joined: True if the sides are in separate files, which may have different lengths.
    """

    joined = True
    control_characters: Literal["error", "replace"] = "error"
    """Treatment of a NUL or tab inside a line, and of a line break inside a text of `hugging_face`: `error` stops,
    `replace` makes it a space."""
    local_dir: Place | None = None
    """`local_dir` for this entry only: folder that is searched for its files before they are downloaded."""
    lines: Lines | None = None
    """Range of lines or rows that is read, such as `{first: 1, last: 10000}` or `{first: 10001}`. It can hold text
    out of a corpus for validation or a test, or measure the value of more text."""

    def __init_subclass__(cls) -> None:
        cls.__annotations__ |= FromFiles.__annotations__

    def read(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the rows of `lines`.  Raises the errors of `rows` and of `Lines.of`."""
        rows, whole = self.rows(sources, languages, monolingual), self.joined and not monolingual
        return rows if self.lines is None else self.lines.of(rows, sources[0].place, whole)


def lines_fault(entry: Entry) -> Iterator[Problem]:
    """Yield a fault for a range of lines that ends before it begins."""
    lines = entry.values.get("lines", {})
    if lines.get("last", lines.get("first", 1)) < lines.get("first", 1):
        message = f"found {lines['last']}, expected at least lines.first {lines['first']}"
        yield (*entry.path, "lines", "last"), message


def apart(values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Return True if two entries that read the same data have no line in common.

    Lines are numbered through all data sets of an entry, so entries of several sets must name the same ones.
    """
    several = [one.get("name") for one in (values, others) if isinstance(one.get("name"), list)]
    if several and values.get("name") != others.get("name"):
        return False
    lines = sorted(
        (one.get("lines", {}).get("first", 1), one.get("lines", {}).get("last", float("inf")))
        for one in (values, others)
    )
    return lines[0][1] < lines[1][0]


def side_faults(
    entry: Entry, values: Mapping[str, Any], path: tuple[Key, ...], keys: Sequence[str]
) -> Iterator[Problem]:
    """Yield a fault for each side that is missing, superfluous or equal to the other.

    values: of the entry, or of its section at `path`, which has the keys of source and target, `keys`.
    """
    wanted = sides_of(entry.monolingual)
    for side, key in zip(SIDES, keys, strict=True):
        if side in wanted and key not in values:
            yield (
                (*path, key),
                f"missing, expected the {side} side of {kind_of(entry.monolingual)} text",
            )
        elif side not in wanted and key in values:
            message = f"found in a monolingual corpus, expected the {entry.monolingual} side alone"
            yield (*path, key), message
    source, target = (values.get(key) for key in keys)
    if source is not None and source == target:
        found = f"'{target}'" if isinstance(target, str) else target
        yield (*path, keys[1]), f"found {found} as {keys[0]} too, expected two sides"
