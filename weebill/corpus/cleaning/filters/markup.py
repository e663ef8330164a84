"""HTML in text: entities, which cleaning decodes, and the filter of pairs of which one side alone has tags."""

import html
import re
from dataclasses import dataclass
from html.entities import html5

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Pairs, none
from weebill_runtime.normalisation import Punctuation, normalise

# Entities end in a semicolon: "AT&T" and "R&D;" are text.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
# Tags and comments of HTML and XML; not words between two angle brackets, which some type for « ».
TAG = re.compile(
    r"(?<!<)</?[a-zA-Z][\w:.-]*(?:\s+[a-zA-Z_:][\w:.-]*(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?)*\s*/?>(?!>)"
    r"|<!--(?:(?!<!--).)*?-->"
)
_TIMES = 3  # text that was encoded several times: &amp;amp;quot;


@dataclass(frozen=True)
class Thresholds:
    """Treatment of HTML."""

    decode_entities: bool = True
    """Replace HTML's entities, such as `&amp;`, by their characters, before all rules."""


def prepare(
    texts: list[str], language: str, rules: Thresholds, punctuation: Punctuation | None
) -> list[str]:
    """Return lines as the filters see them: entities decoded, then normalised; punctuation: as in `normalise`."""
    return normalise(
        decode_entities(texts) if rules.decode_entities else texts, language, punctuation
    )


def decode_entities(texts: list[str]) -> list[str]:
    """Replace the entities of lines by their characters, also those that were encoded again."""
    return [_decoded(text) if "&" in text and ";" in text else text for text in texts]


def _decoded(text: str) -> str:
    for _ in range(_TIMES):
        decoded = _ENTITY.sub(_character, text)
        if decoded == text:
            break
        text = decoded
    return text


def _character(found: re.Match[str]) -> str:
    """Return the character of an entity; a name that HTML does not have stays, such as &regexp; of other markup."""
    known = found[0][1] == "#" or found[0][1:] in html5
    return html.unescape(found[0]) if known else found[0]


def markup(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs of which one side alone has tags of HTML, such as <b> or <br/>."""
    if not pairs.parallel:
        return none(pairs)
    found = [np.fromiter(map(_has_tag, side), bool, len(side)) for side in pairs.sides]
    return np.logical_xor(*found)


def _has_tag(text: str) -> bool:
    return "<" in text and ">" in text and TAG.search(text) is not None
