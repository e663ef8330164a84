"""Symbols at the ends of a sentence, such as emoji, for which a vocabulary has no piece: copied, not translated.

Bytes could spell them, but only a model that has seen them in training copies them reliably.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from weebill.corpus.cleaning.characters import of_category
from weebill.translation.model.vocabulary import Vocabulary


class Edged(NamedTuple):
    """Sentence with the symbols and spaces around it; in this order they are the whole text."""

    before: str
    sentence: str
    after: str

    def around(self, translation: str) -> str:
        """Return a translation of the sentence between the same symbols."""
        return f"{self.before}{translation}{self.after}"


@cache
def _symbols() -> str:
    """Return symbols, what joins them to one emoji (tones of skin, selector, joiner, keycap, tags), and spaces."""
    codes = np.flatnonzero(of_category("So")).tolist()
    codes += [*range(0x1F3FB, 0x1F400), 0xFE0F, 0x200D, 0x20E3, *range(0xE0020, 0xE0080)]
    return "".join(map(chr, codes)) + " \t\u00a0\u3000"


def without_edges(sentences: Iterable[str], vocabulary: Vocabulary) -> list[Edged]:
    """Take symbols without a piece from both ends of sentences."""
    return [Edged("", one, "") if one.isascii() else _split(one, vocabulary) for one in sentences]


def _split(sentence: str, vocabulary: Vocabulary) -> Edged:
    inner = sentence.lstrip(_symbols())
    before = sentence[: len(sentence) - len(inner)]
    if not vocabulary.lacks(before):
        before, inner = "", sentence
    whole, inner = inner, inner.rstrip(_symbols())
    after = whole[len(inner) :]
    return Edged(before, inner, after) if vocabulary.lacks(after) else Edged(before, whole, "")
