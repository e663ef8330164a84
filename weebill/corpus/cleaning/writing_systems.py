"""Words in any writing system; the characters of a text, not its language code, determine how it is divided.

Text in scripts without spaces between words (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan, …) is divided into
letters with their marks; each letter counts as a word.  Hangul, which has spaces, is divided at spaces.
"""

import re
from functools import cache

import numpy as np

from weebill_runtime.characters import CODEPOINTS, character_class, of_category
from weebill_runtime.unspaced import INSIDE, RANGES, is_unspaced

_ATTACHED = "\u0e33\u0eb3\u200c\u200d\uff9e\uff9f"  # letters and joiners that belong to the letter before them
_STACKING = "\u1039\u17d2\u1a60\u1b44\ua9c0"  # they write the next letter below the previous one
# Letters of an English text per letter of its translation, fitted to FLORES-101 by least squares.  All other scripts
# in FLORES-101 have 0.8 to 1.2.
_DENSITIES = {
    "\u3041\u30ff\uff66\uff9f": 1.5,  # kana
    "\uac00\ud7a3": 2.3,  # Hangul
    "\u3005\u3007\u3400\u4dbf\u4e00\u9fff\uf900\ufaff\U00020000\U0003ffff": 3.0,  # Han
}
DENSE = 0x3000  # smallest code point with another density than 1
LETTERS_PER_WORD = 5  # average letters of an English word
UNSPACED, MARK, STACKS = 32, 64, 128  # bits of `unspaced_bits`

_ASCII = re.compile(r"\w+|[^\w\s]")


@cache
def _pattern() -> re.Pattern[str]:
    letter, mark = f"[{INSIDE}]", f"[{character_class('M')}{_ATTACHED}]"
    cluster = f"{letter}(?:[{_STACKING}]{letter}|{mark})*"
    word = rf"[^\W{INSIDE}]+(?:{mark}+[^\W{INSIDE}]*)*"
    return re.compile(rf"{cluster}|{word}|\S")


def tokens(text: str) -> list[str]:
    """Return the words of a line, same as `words`, and every other visible character as a separate token."""
    return (_ASCII if text.isascii() else _pattern()).findall(text)


def words(text: str) -> list[str]:
    """Return the words of a line with their marks, without punctuation; the module's docstring defines words."""
    return [token for token in tokens(text) if token[0].isalnum() or token[0] == "_"]


def count_words(text: str) -> int:
    """Count words between spaces, and each letter of scripts without spaces as a word, as in cleaning."""
    if text.isascii() or not any(map(is_unspaced, text)):
        return len(text.split())
    return len(words(text))


@cache
def unspaced_bits() -> np.ndarray:
    """Return bits of all characters, (0x110000,) uint8, by code point, for `divisions`.

    UNSPACED: a letter or mark of a script without spaces.  MARK: a character that belongs to the one before it.
    STACKS: a character to which the one after it belongs.
    """
    bits = np.where(of_category("M"), MARK, 0).astype(np.uint8)
    bits[list(map(ord, _ATTACHED))] |= MARK
    for first, last in _pairs(RANGES):
        bits[first : last + 1] |= UNSPACED
    bits[list(map(ord, _STACKING))] |= STACKS
    return bits


@cache
def density() -> np.ndarray:
    """Return the number of English letters that each character is worth, (0x110000,) float64, by code point."""
    table = np.ones(CODEPOINTS)
    for ranges, letters in _DENSITIES.items():
        for first, last in _pairs(ranges):
            table[first : last + 1] = letters
    return table


def _pairs(ranges: str) -> list[tuple[int, int]]:
    return list(zip(map(ord, ranges[::2]), map(ord, ranges[1::2]), strict=True))


def divisions(bits: np.ndarray) -> np.ndarray:
    """Return True at each place between two characters, (characters - 1,) bool, that divides unspaced letters.

    bits: `unspaced_bits` of the characters; other bits are ignored.
    """
    unspaced, mark = bits & UNSPACED != 0, bits & MARK != 0
    divided = (unspaced[1:] | unspaced[:-1]) & ~mark[1:]
    return divided & ~((bits[:-1] & STACKS != 0) & unspaced[1:])
