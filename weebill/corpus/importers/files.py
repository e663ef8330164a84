"""Importer `files`: the user's text files, by path or URL."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from weebill.corpus.download import is_url
from weebill.corpus.importers.reading import Controls, Row, Text, one_sided
from weebill.corpus.sources import Places, Source, check_known
from weebill.errors import InputError
from weebill.experiment.corpora import Side, kind_of, sides_of


@dataclass(frozen=True)
class FilesImporter:
    """A pair of text files, or a table of tab-separated values; plain, .gz or .zst; by path or URL.

    sha256: checksum of each file, by the key that names the file; required for a URL.
    columns: numbers of the columns of `table`, counted from 0.
    control_characters: treatment of a NUL (or, in a pair of files, a tab) inside a line: "error" raises an error,
    "replace" puts a space in its place.
    lines: the `first` and the `last` line to read, counted from 1; by default all lines.
    """

    source: str | None = None
    target: str | None = None
    table: str | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)
    control_characters: str = "error"
    lines: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.source is None and self.target is None) == (self.table is None):
            raise InputError("importer files: give either `source` and `target` or `table`")
        if self.table is not None and not self.columns:
            raise InputError("importer files: `table` needs `columns: {source: 0, target: 1}`")
        if self.lines and self.lines["last"] < self.lines["first"]:
            raise InputError(
                f"importer files: `lines` from {self.lines['first']} to {self.lines['last']} are none"
            )
        Controls(self.control_characters)

    def local_files(self) -> list[str]:
        """Return the files that are not fetched from a URL."""
        files = [self.source, self.target, self.table]
        return [file for file in files if file is not None and not is_url(file)]

    def sources(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> list[Source]:
        """Return the files to read.  Raises InputError if a URL has no checksum or a side has no file."""
        keys = ["table"] if self.table is not None else sides_of(monolingual)
        for key in keys:
            if getattr(self, key) is None:
                raise InputError(f"importer files: {kind_of(monolingual)} text needs `{key}`")
        found = []
        for key in keys:
            place, sha256 = getattr(self, key), self.sha256.get(key)
            check_known(place, sha256)
            found.append(Source(place, name=place, sha256=sha256))
        return found

    def rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[Row]:
        """Yield the pairs of the files, in order.

        Raises InputError if the sides differ in length, a file is empty, damaged or not UTF-8, a line
        contains a control character, or the file has fewer lines than `lines` names.
        """
        rows = self._all_rows(languages, monolingual, places)
        if not self.lines:
            yield from rows
            return
        number, last = 0, self.lines["last"]
        for number, row in enumerate(islice(rows, last), start=1):
            if number >= self.lines["first"]:
                yield row
        if number < last:
            file = self.table or self.source or self.target
            raise InputError(
                f"{file}: has {number:,} lines, `lines` names the {last:,}th; name one that is there"
            )

    def _all_rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[Row]:
        files = [Text(places.path(one)) for one in self.sources(languages, monolingual, places)]
        controls = Controls(self.control_characters)
        if self.table is not None:
            columns = {side: self.columns.get(side) for side in sides_of(monolingual)}
            for side, column in columns.items():
                if column is None:
                    raise InputError(
                        f"{files[0]}: `columns` names no {side}, which {kind_of(monolingual)} text needs"
                    )
            yield from controls.table(files[0], columns.get("source"), columns.get("target"))
        elif monolingual:
            yield from one_sided(controls.lines(files[0]), monolingual)
        else:
            yield from controls.pairs(*files)
