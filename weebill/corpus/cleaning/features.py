"""Counts of tokens, letters and characters in many lines at once, from arrays of code points."""

from dataclasses import dataclass, fields
from functools import cache

import numpy as np

from weebill.corpus.cleaning.characters import CODEPOINTS, code_points, letters, of_category

_SPACE, _LETTER, _DIGIT = 1, 2, 4  # bits of the classes of a character
WITHOUT_SPACES = ("zh", "ja")  # languages without spaces between words: each letter is a token


@cache
def _classes(language: str) -> np.ndarray:
    """Return the class bits of all characters, (0x110000,) uint8, by code point."""
    space = np.zeros(CODEPOINTS, bool)
    for code in np.flatnonzero(of_category("Z", "Cc")).tolist():
        space[code] = chr(code).isspace()
    return (space * _SPACE + letters(language) * _LETTER + of_category("Nd") * _DIGIT).astype(
        np.uint8
    )


@dataclass(frozen=True)
class Features:
    """Features of lines for the rules; every array is (lines,)."""

    tokens: np.ndarray  # separated by white space; in WITHOUT_SPACES each letter is also a token
    letter_tokens: np.ndarray  # tokens that begin with a letter of the language's script
    characters: np.ndarray  # without white space
    letters: np.ndarray  # letters of the language's script
    longest_word: np.ndarray  # number of characters of the longest token
    digits: np.ndarray  # decimal digits of any script

    def take(self, rows: np.ndarray) -> "Features":
        """Return the features of the lines with the numbers `rows`."""
        return Features(*(getattr(self, field.name)[rows] for field in fields(self)))


def measure(texts: list[str], language: str) -> Features:
    """Measure the features of lines of a language (ISO 639-1)."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    # Every line ends in a newline, so that no token crosses lines and no line is empty.
    text = "\n".join([*texts, ""]) if texts else ""
    classes = _classes(language)[code_points(text)]  # (characters of all lines,)
    space = (classes & _SPACE).view(bool)
    bounds = np.concatenate([[0], np.cumsum(lengths)])  # (lines + 1,): beginning of each line

    # A token begins where the flags change from space, and ends where they change back.
    changes = np.flatnonzero(space[1:] != space[:-1]) + 1
    if len(space) and not space[0]:
        changes = np.concatenate([[0], changes])
    starts, ends = changes[0::2], changes[1::2]  # (tokens of all lines,)
    if language in WITHOUT_SPACES:
        alone = classes & _LETTER != 0
        between = ~(space[1:] | space[:-1]) & (alone[1:] | alone[:-1])
        starts, ends = (np.union1d(one, np.flatnonzero(between) + 1) for one in (starts, ends))
    tokens_before = np.searchsorted(starts, bounds)  # (lines + 1,)
    tokens = np.diff(tokens_before)
    longest = np.zeros(len(texts), np.int64)
    filled = tokens > 0
    if filled.any():
        longest[filled] = np.maximum.reduceat(ends - starts, tokens_before[:-1][filled])
    return Features(
        tokens=tokens,
        letter_tokens=np.diff(_counted(classes[starts] & _LETTER != 0)[tokens_before]),
        characters=np.diff(_counted(ends - starts)[tokens_before]),
        letters=np.diff(_counted(classes & _LETTER != 0)[bounds]),
        longest_word=longest,
        digits=np.diff(np.searchsorted(np.flatnonzero(classes & _DIGIT), bounds)),
    )


def _counted(values: np.ndarray) -> np.ndarray:
    """Return the sum of all values before each position, (n + 1,) int64."""
    total = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=total[1:])
    return total
