"""Symbols at the ends of a sentence, such as emoji, for which a vocabulary has no piece: copied, not translated.

Bytes could spell them, but only a model that has seen them in training copies them reliably.
"""

import unicodedata
from collections.abc import Iterable
from itertools import dropwhile
from typing import NamedTuple

from weebill_runtime.vocabulary import Vocabulary

_TONES, _TAGS = map(chr, range(0x1F3FB, 0x1F400)), map(chr, range(0xE0020, 0xE0080))
_JOINED = frozenset([*_TONES, *_TAGS, *"\ufe0f\u200d\u20e3 \t\u00a0\u3000"])


class Edged(NamedTuple):
    """Sentence with the symbols and spaces around it; in this order they are the whole text."""

    before: str
    sentence: str
    after: str

    def around(self, translation: str) -> str:
        """Return a translation of the sentence between the same symbols."""
        return f"{self.before}{translation}{self.after}"


def _is_symbol(character: str) -> bool:
    """Return True for symbols, parts that join them to one emoji (tones, selector, keycap, tags, …), and spaces."""
    return character in _JOINED or unicodedata.category(character) == "So"


def without_edges(sentences: Iterable[str], vocabulary: Vocabulary) -> list[Edged]:
    """Take symbols without a piece from both ends of sentences."""
    return [Edged("", one, "") if one.isascii() else _split(one, vocabulary) for one in sentences]


def _split(sentence: str, vocabulary: Vocabulary) -> Edged:
    inner = "".join(dropwhile(_is_symbol, sentence))
    before = sentence[: len(sentence) - len(inner)]
    if not vocabulary.lacks(before):
        before, inner = "", sentence
    whole, kept = inner, len(inner)
    while kept and _is_symbol(whole[kept - 1]):
        kept -= 1
    inner, after = whole[:kept], whole[kept:]
    return Edged(before, inner, after) if vocabulary.lacks(after) else Edged(before, whole, "")
