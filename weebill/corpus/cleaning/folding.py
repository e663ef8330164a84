"""Folded text, in which lines that differ only in case, punctuation and white space are equal."""

import re
import unicodedata
from functools import cache

import numpy as np

from weebill_runtime.characters import CODEPOINTS, code_points, of_category

_DROPPED, _KEPT, _DIGIT = 0, 1, 2  # effect of folding on a character; digits are also kept
_BETWEEN_DIGITS = re.compile(rb"\x02\x00+(?=\x02)")


@cache
def _folding() -> np.ndarray:
    """Return the effects on all characters, (0x110000,) uint8, by code point."""
    effects = np.where(of_category("P", "Z", "C"), _DROPPED, _KEPT).astype(np.uint8)
    effects[of_category("Nd")] = _DIGIT
    effects[0x640] = _DROPPED  # the tatweel only makes Arabic words longer
    effects[0x2B9:0x2C0] = _DROPPED  # letters that are typed as apostrophes too: п\u02bcять
    effects[0xFE00:0xFE10] = effects[0xE0100:0xE01F0] = _DROPPED  # variants of the character before
    effects[ord("~")] = _DROPPED  # NFKC of the wide tilde, which is used as a dash like U+301C
    effects[ord("\n")] = _KEPT  # it separates the joined lines
    return effects


@cache
def _ascii_digits() -> np.ndarray:
    """Return the ASCII digit, (0x110000,) uint8, of each decimal digit."""
    table = np.zeros(CODEPOINTS, np.uint8)
    for code in np.flatnonzero(of_category("Nd")).tolist():
        table[code] = ord("0") + unicodedata.decimal(chr(code))
    return table


def _case_folded(line: str) -> str:
    """Return a line without case in Unicode's form NFKC, which makes equivalent spellings of a letter equal."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", line).casefold())
    return folded.replace("\u301c", "~")


def folded(lines: list[str]) -> list[str]:
    """Remove case, punctuation and white space from lines (without "\\n"), except between two digits.

    So "3.5" differs from "35", and "50 $" from "50 €", because symbols are kept.  Equivalent characters become equal:
    composed or not, of any width, digits of any script, apostrophes and long waves.  Arabic loses its tatweel.
    """
    lower = [line.lower() if line.isascii() else _case_folded(line) for line in lines]
    codes = code_points("\n".join(lower))
    classes = _folding()[codes]  # (characters,)
    for found in _BETWEEN_DIGITS.finditer(classes.tobytes()):
        classes[found.start() + 1 : found.end()] = _KEPT
    foreign = (classes == _DIGIT) & (codes > 0x7F)
    if foreign.any():
        codes = np.where(foreign, _ascii_digits()[codes], codes)
    text = codes[classes != _DROPPED].tobytes().decode("utf-32-le", "surrogatepass")
    return text.split("\n") if lines else []
