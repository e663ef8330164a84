"""Weebill's normalizer for SentencePiece: the replacements of the normalisation that need no context.

A vocabulary contains this table, so that engines that only know SentencePiece, such as Marian, apply it too.  Text
that cleaning has normalised stays as it is, except that all spaces become " " (the narrow one stays in Mongolian
script), and rare dashes and ligatures become their usual forms.
"""

import re
from collections.abc import Iterator
from itertools import permutations
from unicodedata import normalize

import numpy as np

from weebill_runtime.characters import of_category
from weebill_runtime.normalisation import COMPATIBLE, Normalisation, remove_non_printing

LIGATURES = "\ufb00-\ufb06"  # ﬀ … ﬆ
# Zero-width characters that some scripts need, and tags in emoji: their neighbours decide whether they stay.
CONTEXTUAL = {0x180E, 0x200B, 0x200C, 0x200D, *range(0xE0020, 0xE0080)}
HANGUL = range(0xAC00, 0xD7A4)
PUNCTUATION = {
    **dict.fromkeys("„“”‟«»", '"'),
    **dict.fromkeys("´`‘‚’‛‹›", "'"),
    **dict.fromkeys("‐‑‒–", "-"),
    **dict.fromkeys("—―", " - "),
    "…": "...",
}


def rules(normalisation: Normalisation) -> dict[str, str]:
    """Return the replacement of each character or sequence; the longest sequence wins."""
    found = dict(_invisible()) | dict(_compatible())
    languages = (normalisation.source.language, normalisation.target.language)
    korean = any(re.match("kor?\\b", language) for language in languages)
    found |= dict(_composed(korean))
    if any("Mong" in language for language in languages):
        del found["\u202f"]  # joins suffixes to words in Mongolian script
    return found | PUNCTUATION if normalisation.folds else found


def as_table(replacements: dict[str, str]) -> str:
    """Return replacements in SentencePiece's format: hexadecimal code points, a tab between the columns."""
    rows = (
        "\t".join(" ".join(f"{ord(one):X}" for one in text) for text in pair)
        for pair in sorted(replacements.items())
    )
    return "".join(f"{row}\n" for row in rows)


def _invisible() -> Iterator[tuple[str, str]]:
    for code in _codes("Cf"):
        if code not in CONTEXTUAL and not remove_non_printing(chr(code)):
            yield chr(code), ""
    for code in _codes("Cc", "Zs", "Zl", "Zp"):
        if chr(code) not in "\0 \u3000":
            yield chr(code), " "


def _compatible() -> Iterator[tuple[str, str]]:
    for character in re.findall(
        f"[{COMPATIBLE}{LIGATURES}]", "".join(map(chr, range(0xF900, 0x10000)))
    ):
        for sequence in (character, f"{character}\uff9e", f"{character}\uff9f"):  # voiced kana
            usual = normalize("NFKC", sequence)
            if usual != sequence and (sequence == character or len(usual) == 1):
                yield sequence, usual


def _composed(korean: bool) -> Iterator[tuple[str, str]]:
    """Yield sequences of a letter and its marks, in any order, each with the composed character that replaces it."""
    for code in _codes("L", "M", "S"):
        character = chr(code)
        composed, (base, *marks) = normalize("NFC", character), normalize("NFD", character)
        if composed != character:
            yield character, composed
        elif marks and (korean or code not in HANGUL):
            for order in permutations(marks):
                for start in range(
                    len(order)
                ):  # number of marks that are already composed with the letter
                    sequence = normalize("NFC", base + "".join(order[:start])) + "".join(
                        order[start:]
                    )
                    if normalize("NFC", sequence) == character:
                        yield sequence, character


def _codes(*categories: str) -> list[int]:
    return np.flatnonzero(of_category(*categories)).tolist()
