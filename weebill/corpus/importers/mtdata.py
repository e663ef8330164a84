"""Importer `mtdata`: data sets, by their names in mtdata's index; text, tables and translation memories (TMX)."""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree

from weebill.corpus.importers import FromFiles, Languages, Rows, Sources
from weebill.corpus.importers.mtdata_index import READ, Entry, find_entry, similar_names
from weebill.corpus.importers.reading import Controls, TextFile, damage, member_names, open_text
from weebill.corpus.language_codes import iso_639_3, same_language, spelling, standard_tag
from weebill.corpus.sources import Places, Problem, Source
from weebill.errors import InputError, Key, nearest
from weebill.experiment.corpora import Entry as CorpusEntry
from weebill.experiment.corpora import sides_of
from weebill.settings import MinLen, Sha256, Text, Unique, section
from weebill.text_files import bounded
from weebill_runtime.languages import primary
from weebill_runtime.names import SIDES, Side

log = logging.getLogger(__name__)

LANGUAGE = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")  # TMX 1.4 and earlier versions
OTHER_IMPORTERS = {"hfds": "hugging_face", "sgm": "sacrebleu", "wmt21xml": "sacrebleu"}


@section
class MtdataImporter(FromFiles):
    """Data sets by their names in [mtdata](https://github.com/thammegowda/mtdata) 0.5.1.

    `mtdata list -id -l deu-eng` shows the names. The order of a set's languages does not matter; monolingual text may
    also be one side of a parallel set. The importer reads plain text, tables and translation memories (TMX),
    compressed or in archives; from a TMX it reads the units that have both languages. mtdata does not record
    licences.
    """

    by_language = True

    name: Text | Annotated[tuple[str, ...], MinLen(1), Unique()]
    """Name of a data set, such as `Statmt-europarl-10-deu-eng`, or a list of names, read in this order."""
    sha256: dict[str, Sha256] = field(default_factory=dict)
    """Checksum of each file, by its name in `local_dir`. Files are named after the data set, such as
    `Statmt-europarl-10-deu-eng.tsv.gz`; if one is missing, a message names it."""

    @classmethod
    def unpublished(cls, entry: CorpusEntry, languages: Languages) -> Iterator[Problem]:
        """Find data sets that mtdata's index lacks."""
        for place, name in _names(entry.values):
            fault = name_fault(name, languages, entry.monolingual)
            if fault is not None:
                yield (*entry.path, *place), fault

    @classmethod
    def origins(cls, values: Mapping[str, Any]) -> set[str]:
        """Name each data set, by its name in OPUS, like the importer `opus`, or else by its own name."""
        return {_origin(name) for _, name in _names(values)}

    @property
    def names(self) -> list[str]:
        """Names of the data sets, in order."""
        return [name for _, name in _names({"name": self.name})]

    def sources(self, languages: Languages, monolingual: Side | None, places: Places) -> Sources:
        """Return the files of the data sets.  Raises InputError if a name is unknown or has other languages."""
        found = []
        for name in self.names:
            if (fault := name_fault(name, languages, monolingual)) is not None:
                raise InputError(f"mtdata: {fault}")
            entry = find_entry(name)
            parts = [""] if len(entry.urls) == 1 else [f".{code}" for code in entry.languages]
            for url, part in zip(entry.urls, parts, strict=True):
                file = f"{entry.name}{part}.{entry.form}{entry.packed}"
                sha256 = self.sha256.get(file)
                found.append(Source(url, name, entry.version, file_name=file, sha256=sha256))
        names = [source.file_name for source in found]
        for name in self.sha256:
            if name not in names:
                raise InputError(f"mtdata: sha256 of '{name}', which is none of {', '.join(names)}")
        return found

    def rows(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the pairs of the data sets, in order.  Raises the same errors as the importer `files`."""
        controls, codes = Controls(self.control_characters), _codes(languages, monolingual)
        for name in self.names:
            entry = find_entry(name)
            paths = [source.path for source in sources if source.name == name]
            places = {side: _place(entry, code) for side, code in codes.items()}
            if entry.form == "txt":
                # Each language has its own file, or its own member of the only archive.
                parts = [(path, None) for path in paths]
                if len(paths) == 1:
                    parts = [(paths[0], member) for member in entry.members or (None,)]
                texts = [TextFile(*parts[place], entry.packed) for place in places.values()]
                yield from controls.sides(texts, monolingual)
                continue
            for text in _members(entry, paths[0]):
                if entry.form == "tmx":
                    both = zip(SIDES, languages, strict=True)
                    wanted = (code if side in codes else None for side, code in both)
                    yield from tmx_units(text, *wanted)
                else:
                    columns = entry.columns or range(len(entry.languages))
                    wanted = (columns[places[side]] if side in places else None for side in SIDES)
                    yield from controls.table(text, *wanted)


def _names(values: Mapping[str, Any]) -> list[tuple[tuple[Key, ...], str]]:
    """Return the place and the text of each name in an entry of a configuration."""
    if isinstance(values["name"], str):
        return [(("name",), values["name"])]
    return [(("name", number), name) for number, name in enumerate(values["name"])]


def _origin(name: str) -> str:
    entry = find_entry(name)
    found = entry and re.search(r"/OPUS-([^/]+)/([^/]+)/moses/", entry.urls[0])
    return f"'{found[1]} {found[2]}' of OPUS" if found else f"'{name}'"


def _members(entry: Entry, path: Path) -> Iterator[TextFile]:
    """Yield the members of an archive, each of which holds both sides, or the file itself if it is no archive."""
    for pattern in entry.members or (None,):
        names = [None] if pattern is None else member_names(TextFile(path, pattern, entry.packed))
        if not names:
            raise InputError(f"{path}: no member '{pattern}'; fetch the archive again")
        yield from (TextFile(path, name, entry.packed) for name in names)


def _codes(languages: Languages, monolingual: Side | None) -> dict[Side, str]:
    """Return the languages by side, in mtdata's spelling: zho_TW for zh-TW."""
    found = {}
    for side in sides_of(monolingual):
        code = languages[SIDES.index(side)]
        language, *rest = (standard_tag(code) or code).split("-")
        found[side] = "_".join([iso_639_3(language), *rest])
    return found


def _place(entry: Entry, code: str) -> int | None:
    """Return the number of the side in a language, in any spelling; None if the data set lacks the language."""
    found = spelling(code, entry.languages)
    return None if found is None else entry.languages.index(found)


def name_fault(name: str, languages: Languages, monolingual: Side | None) -> str | None:
    """Return the reason why a data set cannot be read for these languages, or None if it can."""
    entry = find_entry(name)
    if entry is None:
        return f"no data set '{name}' in mtdata{nearest(name, similar_names(name))}"
    wanted = list(_codes(languages, monolingual).values())
    missing = [code for code in wanted if _place(entry, code) is None]
    if missing or (not monolingual and len(set(entry.languages)) < 2):
        return f"found '{name}', expected one with {' and '.join(wanted)}"
    if entry.form not in READ or (len(entry.urls) > 1 and entry.form != "txt"):
        other = OTHER_IMPORTERS.get(entry.form)
        remedy = f"importer {other} reads it" if other else "convert it for importer files"
        return f"found '{name}', whose format {entry.form} is not read here; {remedy}"
    return None


def tmx_units(text: TextFile, source: str | None, target: str | None) -> Rows:
    """Yield the units of a translation memory that have both languages, or the only language if the other is None.

    source, target: codes of the languages; other spellings and regions ("de-AT", "deu") also match.  If a unit has
    several, the nearest one is used.
    Line breaks inside a segment are layout and become spaces.  The log counts the units that lack a language.
    Raises InputError if the XML is not well-formed, or no unit has the languages.
    """
    found, others, wanted = 0, 0, (source, target)
    with damage(text, lambda: f" after unit {found + others}"), open_text(text) as stream:
        try:
            for unit in _elements(stream):
                segments = _segments(unit)
                codes = tuple(code for code, _ in segments)
                places = [one and _best(one, codes) for one in wanted]
                row = tuple(None if place is None else segments[place][1] for place in places)
                if any(t is None and one for t, one in zip(row, wanted, strict=True)):
                    others += 1
                else:
                    found += 1
                    place = f"{text}: unit {found + others}"
                    yield tuple(words and bounded(words, place) for words in row)
        except ElementTree.ParseError as error:
            line, _ = error.position
            message = f"{text}:{line}: not well-formed XML ({error}); fetch the file again"
            raise InputError(message) from error
    named = " and ".join(filter(None, wanted))
    if not found:
        raise InputError(f"{text}: none of its {others:,} units is in {named}; check the languages")
    if others:
        log.info("%s: %s units are not in %s", text, f"{others:,}", named)


@lru_cache
def _best(language: str, codes: tuple[str, ...]) -> int | None:
    """Return the index of the code that fits a language best, None if none fits: zh-TW, of zh-CN and zh-TW.

    A code that is not a tag, such as zh-CHT, counts as its language, here zh.
    """
    best = spelling(language, codes)
    if best is not None:
        return codes.index(best)
    others = (n for n, code in enumerate(codes) if standard_tag(code) is None)
    return next((n for n in others if same_language(primary(codes[n]), primary(language))), None)


def _elements(stream) -> Iterator[ElementTree.Element]:
    """Yield the `tu` elements; each is deleted after use, so that memory does not depend on the file's size."""
    open_elements: list[ElementTree.Element] = []
    for event, element in ElementTree.iterparse(stream, events=("start", "end")):
        if event == "start":
            open_elements.append(element)
            continue
        open_elements.pop()
        if element.tag == "tu":
            yield element
            open_elements[-1].clear()


def _segments(unit: ElementTree.Element) -> list[tuple[str, str]]:
    """Return (language, text) of a unit's variants that have text."""
    segments = []
    for variant in unit.findall("tuv"):
        code = next((variant.get(key) for key in LANGUAGE if variant.get(key)), "")
        segment = variant.find("seg")
        words = "" if segment is None else re.sub(r"[\n\t]", " ", _text(segment)).strip()
        if words:
            segments.append((code, words))
    return segments


def _text(segment: ElementTree.Element) -> str:
    """Return the words of a segment without inline markup; highlighted text (`hi`) is kept."""
    parts = [segment.text or ""]
    for child in segment:
        parts += [_text(child) if child.tag == "hi" else "", child.tail or ""]
    return "".join(parts)
