"""Importer `files`: the user's text files, by path or URL."""

import posixpath
from collections.abc import Iterator
from dataclasses import asdict

from weebill.corpus.download import is_url, path_in
from weebill.corpus.importers import FromFiles, Languages, Rows, Sources, side_faults
from weebill.corpus.importers.reading import Controls, TextFile
from weebill.corpus.sources import Places, Problem, Source, address_faults, check_known
from weebill.errors import InputError, key_path
from weebill.experiment.corpora import Entry, kind_of, sides_of
from weebill.settings import Amount, Place, Sha256, section
from weebill.text_files import COMPRESSED, OTHER_ARCHIVES, read_lines
from weebill_runtime.languages import primary
from weebill_runtime.names import SIDES, Side


@section
class Columns:
    """Columns of a table, counted from 0."""

    source: Amount | None = None
    """Column of the source side."""
    target: Amount | None = None
    """Column of the target side; monolingual text has one of the two."""


@section
class Checksums:
    """Checksums of the files of an entry."""

    source: Sha256 | None = None
    """SHA-256 of `source`."""
    target: Sha256 | None = None
    """SHA-256 of `target`."""
    table: Sha256 | None = None
    """SHA-256 of `table`."""


@section
class FilesImporter(FromFiles):
    """Pair of text files with one sentence per line, or table of tab-separated values.

    Files are plain, `.gz`, `.xz` or `.zst`. Each is a local path or an `https://` address. A line of more than 1 MiB
    is not read: the filter `too_long` drops its row, and in a validation or test set it is an error.
    """

    source: Place | None = None
    """File of the source side."""
    target: Place | None = None
    """File of the target side; monolingual text has one of the two."""
    table: Place | None = None
    """Table of tab-separated values, instead of the two files."""
    columns: Columns | None = None
    """Columns of the table: `{source: 0, target: 1}`, counted from 0."""
    sha256: Checksums = Checksums()
    """Checksums of the files; an address needs one."""
    origlang: Place | None = None
    """File for `evaluation.original_languages`: one line for each pair of the files, with the code of the language
    in which the pair was first written."""

    def __post_init__(self) -> None:
        if (self.source is None and self.target is None) == (self.table is None):
            raise InputError("importer files: give either `source` and `target` or `table`")
        if self.table is not None and self.columns is None:
            raise InputError("importer files: `table` needs `columns: {source: 0, target: 1}`")

    @property
    def joined(self) -> bool:
        """True if the sides are in two files."""
        return self.table is None

    @classmethod
    def faults(cls, entry: Entry) -> Iterator[Problem]:
        """Find missing, superfluous or equal sides, files of other formats, and addresses without a checksum."""
        path, values, files = entry.path, entry.values, cls.file_keys()
        if ("table" in values) == any(side in values for side in SIDES):
            found = "both" if "table" in values else "neither"
            yield path, f"found {found}, expected one of source, table"
        elif "table" not in values:
            if "columns" in values:
                message = "found without table, expected source and target alone"
                yield (*path, "columns"), message
            yield from side_faults(entry, values, path, SIDES)
        elif "columns" in values:
            yield from side_faults(entry, values["columns"], (*path, "columns"), SIDES)
        else:
            yield (*path, "columns"), "missing, expected the columns of the table, counted from 0"
        for key in files:
            file, checksum = values.get(key), values["sha256"].get(key)
            place = (*path, "sha256", key)
            if file is not None:
                yield from address_faults((*path, key), file, place, checksum)
            elif checksum is not None:
                yield place, f"found a checksum, expected the key {key_path((*path, key))} too"
        if is_url(values.get("origlang", "")):
            yield (
                (*path, "origlang"),
                f"found '{values['origlang']}', expected a file of this machine",
            )
        for key in files:
            file = values.get(key, "")
            name = path_in(file) if is_url(file) else file
            if posixpath.splitext(name)[1] in OTHER_ARCHIVES:
                expected = f"expected plain text, {', '.join(COMPRESSED[:-1])} or {COMPRESSED[-1]}"
                yield (*path, key), f"found '{file}', {expected}"

    def local_files(self) -> list[str]:
        """Return the files that are not fetched from a URL."""
        files = (self.source, self.target, self.table, self.origlang)
        return [file for file in files if file is not None and not is_url(file)]

    def sources(self, languages: Languages, monolingual: Side | None, places: Places) -> Sources:
        """Return the files to read.  Raises InputError if a URL has no checksum or a side has no file."""
        keys = ["table"] if self.table is not None else sides_of(monolingual)
        files = {key: getattr(self, key) for key in keys}
        for key, place in files.items():
            if place is None:
                raise InputError(f"importer files: {kind_of(monolingual)} text needs `{key}`")
        checksums = asdict(self.sha256)
        for key, place in files.items():
            check_known(place, checksums[key])
        return [Source(place, name=place, sha256=checksums[key]) for key, place in files.items()]

    def original_languages(self, languages: Languages, places: Places) -> list[str]:
        """Return the language in which each pair was first written, in the order of `rows`; "" if unknown.

        Raises InputError if the entry has no `origlang`, or the file cannot be read.
        """
        if self.origlang is None:
            raise InputError("importer files: `evaluation.original_languages` needs `origlang`")
        codes = read_lines(self.origlang)
        if self.lines is not None:
            codes = self.lines.of(codes, self.origlang)
        return [primary(line.strip()) for line in codes]

    def read(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the rows of `lines`.  Also raises InputError if `origlang` has a different number of lines."""
        number = 0
        for row in super().read(sources, languages, monolingual):
            yield row
            number += 1
        if self.origlang is not None:
            codes = len(self.original_languages(languages, Places()))
            if codes != number:
                raise InputError(
                    f"{self.origlang}: has {codes:,} lines for {number:,} pairs of {sources[0].place}; it needs one "
                    "line per pair"
                )

    def rows(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the pairs of the files, in order.

        Raises InputError if the sides differ in length, a file is empty, damaged or not UTF-8, or a line has a
        control character.
        """
        files = [TextFile(source.path) for source in sources]
        controls = Controls(self.control_characters)
        if self.table is None:
            return controls.sides(files, monolingual)
        wanted, columns = sides_of(monolingual), asdict(self.columns)
        for side in wanted:
            if columns[side] is None:
                message = f"{files[0]}: `columns` names no {side}, which {kind_of(monolingual)} text needs"
                raise InputError(message)
        return controls.table(files[0], *(columns[s] if s in wanted else None for s in SIDES))
