"""Importer `mtdata`: data sets, by their names in mtdata's index."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weebill.corpus.importers import tmx
from weebill.corpus.importers.mtdata_index import READ, Entry, find_entry, similar_names
from weebill.corpus.importers.reading import Controls, Row, Text, member_names, one_sided
from weebill.corpus.language_codes import iso_639_3
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError, nearest
from weebill.experiment.corpora import SIDES, Side, sides_of

OTHER_IMPORTERS = {"hfds": "hugging_face", "sgm": "sacrebleu", "wmt21xml": "sacrebleu"}


@dataclass(frozen=True)
class MtdataImporter:
    """Data sets of mtdata's index, one after the other, such as Statmt-europarl-10-deu-eng.

    name: one name or several.  sha256: checksums of their files, by the files' names in `local_dir`.
    The languages of a name may have either order; monolingual text may be one side of a parallel data set.
    """

    name: str | Sequence[str]
    sha256: Mapping[str, str] = field(default_factory=dict)
    control_characters: str = "error"

    def __post_init__(self) -> None:
        Controls(self.control_characters)

    @property
    def names(self) -> list[str]:
        """Names of the data sets, in order."""
        return [self.name] if isinstance(self.name, str) else list(self.name)

    def local_files(self) -> list[str]:
        """Return none: all files are fetched."""
        return []

    def sources(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> list[Source]:
        """Return the files of the data sets.  Raises InputError if a name is unknown or has other languages."""
        found = [
            source
            for name in self.names
            for source in self._sources(_checked(name, languages, monolingual))
        ]
        names = [source.file_name for source in found]
        for name in self.sha256:
            if name not in names:
                raise InputError(f"mtdata: sha256 of '{name}', which is none of {', '.join(names)}")
        return found

    def _sources(self, entry: Entry) -> list[Source]:
        parts = [""] if len(entry.urls) == 1 else [f".{code}" for code in entry.languages]
        sources = []
        for url, part in zip(entry.urls, parts, strict=True):
            name = f"{entry.name}{part}.{entry.form}{entry.packed}"
            sha256 = self.sha256.get(name)
            sources.append(Source(url, entry.name, entry.version, file_name=name, sha256=sha256))
        return sources

    def rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[Row]:
        """Yield the pairs of the data sets, in order.  Raises the same errors as the importer `files`."""
        sources = self.sources(languages, monolingual, places)
        for name in self.names:
            paths = [places.path(source) for source in sources if source.name == name]
            yield from self._rows(find_entry(name), paths, languages, monolingual)

    def _rows(
        self, entry: Entry, paths: list, languages: tuple, monolingual: Side | None
    ) -> Iterator[Row]:
        controls = Controls(self.control_characters)
        places = {  # of the sides to read, among the entry's languages
            side: entry.languages.index(code)
            for side, code in _codes(languages, monolingual).items()
        }
        if entry.form == "tmx":
            codes = {
                side: {code, iso_639_3(code)} for side, code in zip(SIDES, languages, strict=True)
            }
            wanted = [codes[side] if side in places else None for side in SIDES]
            for text in _members(entry, paths[0]):
                yield from tmx.units(text, *wanted)
        elif entry.form == "tsv":
            columns = entry.columns or tuple(range(len(entry.languages)))
            wanted = [columns[places[side]] if side in places else None for side in SIDES]
            for text in _members(entry, paths[0]):
                yield from controls.table(text, *wanted)
        else:
            if len(paths) > 1:
                texts = [Text(paths[place], None, entry.packed) for place in places.values()]
            else:
                members = entry.members or (None,)
                texts = [Text(paths[0], members[p], entry.packed) for p in places.values()]
            if monolingual:
                yield from one_sided(controls.lines(texts[0]), monolingual)
            else:
                yield from controls.pairs(*texts)


def _members(entry: Entry, path) -> Iterator[Text]:
    """Yield the texts of an archive whose members each hold both sides, or else the file itself."""
    for pattern in entry.members or (None,):
        text = Text(path, pattern, entry.packed)
        names = [None] if pattern is None else member_names(text)
        if not names:
            raise InputError(f"{path}: no member '{pattern}'; fetch the archive again")
        yield from (Text(path, name, entry.packed) for name in names)


def _checked(name: str, languages: tuple[str, str], monolingual: Side | None) -> Entry:
    if (fault := name_fault(name, languages, monolingual)) is not None:
        raise InputError(f"mtdata: {fault}")
    return find_entry(name)


def _codes(languages: tuple[str, str], monolingual: Side | None) -> dict[Side, str]:
    """Return mtdata's language code of each side to read."""
    by_side = dict(zip(SIDES, languages, strict=True))
    return {side: iso_639_3(by_side[side]) for side in sides_of(monolingual)}


def name_fault(name: str, languages: tuple[str, str], monolingual: Side | None) -> str | None:
    """Return the reason why a data set cannot be read for these languages, or None if it can."""
    entry = find_entry(name)
    if entry is None:
        return f"no data set '{name}' in mtdata{nearest(name, similar_names(name))}"
    wanted = list(_codes(languages, monolingual).values())
    missing = [code for code in wanted if code not in entry.languages]
    if missing or (not monolingual and len(set(entry.languages)) < 2):
        return f"found '{name}', expected one with {' and '.join(wanted)}"
    if entry.form not in READ or (len(entry.urls) > 1 and entry.form != "txt"):
        other = OTHER_IMPORTERS.get(entry.form)
        remedy = f"importer {other} reads it" if other else "convert it for importer files"
        return f"found '{name}', whose format {entry.form} is not read here; {remedy}"
    return None
