"""Streaming reader of translation memories (TMX): units of the same text in several languages."""

import logging
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from weebill.corpus.importers import Row
from weebill.corpus.importers.reading import Text, damage, open_text
from weebill.errors import InputError

log = logging.getLogger(__name__)

LANGUAGE = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")  # TMX 1.4 and earlier versions


def units(text: Text, source: set[str] | None, target: set[str] | None) -> Iterator[Row]:
    """Yield the units of a translation memory that have both languages, or the only language if the other is None.

    source, target: all codes of a language, such as {"de", "deu"}; regions ("de-AT") are ignored.
    Line breaks inside a segment are layout and become spaces.  The log counts the units that lack a language.
    Raises InputError if the XML is not well-formed, or no unit has the languages.
    """
    found, others, wanted = 0, 0, (source, target)
    with damage(text, lambda: f" after unit {found + others}"), open_text(text) as stream:
        try:
            for unit in _elements(stream):
                segments = _segments(unit)
                row = tuple(
                    next((words for code, words in segments if code in (codes or ())), None)
                    for codes in wanted
                )
                if any(t is None and codes for t, codes in zip(row, wanted, strict=True)):
                    others += 1
                else:
                    found += 1
                    yield row
        except ElementTree.ParseError as error:
            line, _ = error.position
            raise InputError(
                f"{text}:{line}: not well-formed XML ({error}); fetch the file again"
            ) from error
    named = " and ".join("/".join(sorted(codes)) for codes in wanted if codes)
    if not found:
        raise InputError(f"{text}: none of its {others:,} units is in {named}; check the languages")
    if others:
        log.info("%s: %s units are not in %s", text, f"{others:,}", named)


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
    """Return (language without its region, text) of a unit's variants that have text."""
    segments = []
    for variant in unit.findall("tuv"):
        code = next((variant.get(key) for key in LANGUAGE if variant.get(key)), "")
        segment = variant.find("seg")
        words = "" if segment is None else re.sub(r"[\n\t]", " ", _text(segment)).strip()
        if words:
            segments.append((re.split("[-_]", code)[0].lower(), words))
    return segments


def _text(segment: ElementTree.Element) -> str:
    """Return the words of a segment without inline markup; highlighted text (`hi`) is kept."""
    parts = [segment.text or ""]
    for child in segment:
        parts += [_text(child) if child.tag == "hi" else "", child.tail or ""]
    return "".join(parts)
