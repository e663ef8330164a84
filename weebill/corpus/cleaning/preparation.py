"""Preparation of lines for filters and scores: HTML entities and control characters are decoded, then normalised."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html.entities import html5
from itertools import islice

from weebill_runtime.normalisation import Punctuation, normalise

# An HTML entity, which ends in a semicolon: "AT&T" is text.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
# Control characters U+0080 to U+009F, which browsers show as marks of Windows' code page 1252: text that was read as
# Latin-1.  U+0085 is left out, which is also an end of line; five of them mean nothing.
_MARKS = {
    code: mark for code in range(0x80, 0xA0) if (mark := bytes([code]).decode("cp1252", "ignore"))
}
del _MARKS[0x85]
_MARK = re.compile(f"[{''.join(map(chr, _MARKS))}]")
ROWS = 4096  # prepared at once
_TIMES = 3  # rounds of decoding, for text that was encoded several times: &amp;amp;quot;


@dataclass(frozen=True)
class Thresholds:
    """Treatment of HTML."""

    decode_entities: bool = True
    """Replace HTML entities, such as `&amp;`, by their characters before any rule is applied, and control characters
    by the quotes and dashes that Windows has in their place, such as U+0092 by ’."""


def prepare(
    texts: list[str], language: str, rules: Thresholds, punctuation: Punctuation | None
) -> list[str]:
    """Decode entities and normalise lines, as the filters need them; punctuation: as in `normalise`."""
    return normalise(
        decode_entities(texts) if rules.decode_entities else texts, language, punctuation
    )


def prepare_rows(
    rows: Iterable[tuple[str, ...]],
    languages: Sequence[str],
    rules: Thresholds,
    punctuation: Punctuation | None,
) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a text of any size, with one line for each language, as `prepare` returns them."""
    left = iter(rows)
    while batch := list(islice(left, ROWS)):
        sides = zip(zip(*batch, strict=True), languages, strict=True)
        prepared = (prepare([*lines], one, rules, punctuation) for lines, one in sides)
        yield from zip(*prepared, strict=True)


def decode_entities(texts: list[str]) -> list[str]:
    """Replace the entities of lines by their characters, also entities that were encoded several times.

    Control characters that stand for marks are replaced, too: HTML has &#146; for ’.
    """
    decoded = [_decoded(text) if "&" in text and ";" in text else text for text in texts]
    return [
        text.translate(_MARKS) if not text.isascii() and _MARK.search(text) else text
        for text in decoded
    ]


def _decoded(text: str) -> str:
    for _ in range(_TIMES):
        decoded = _ENTITY.sub(_character, text)
        if decoded == text:
            break
        text = decoded
    return text


def _character(found: re.Match[str]) -> str:
    """Return the character of an entity; keep names that HTML does not have, such as &regexp; of other markup."""
    known = found[0][1] == "#" or found[0][1:] in html5
    return html.unescape(found[0]) if known else found[0]
