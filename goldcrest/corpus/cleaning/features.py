"""Counts of tokens, letters and characters of many lines at once, by array arithmetic on code points."""

from dataclasses import dataclass, fields

import numpy as np

from goldcrest.corpus.cleaning.characters import CODEPOINTS, letters

_SPACE = np.zeros(CODEPOINTS, bool)
_SPACE[[code for code in range(CODEPOINTS) if chr(code).isspace()]] = True


@dataclass(frozen=True)
class Features:
    """What the rules look at, one number per line; every array is (lines,) int64."""

    tokens: np.ndarray  # separated by white space
    letter_tokens: np.ndarray  # tokens that begin with a letter of the language's script
    characters: np.ndarray  # not white space
    letters: np.ndarray  # of the language's script
    longest_word: np.ndarray  # characters of the longest token

    def take(self, rows: np.ndarray) -> "Features":
        """The features of the lines of these numbers."""
        return Features(*(getattr(self, field.name)[rows] for field in fields(self)))


def measure(texts: list[str], language: str) -> Features:
    """The features of lines of a language (ISO 639-1)."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    # Every line ends in a newline, so that no token crosses lines and no line is empty.
    text = "\n".join([*texts, ""]) if texts else ""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    space = _SPACE[codes]  # (characters of all lines,)
    letter = letters(language)[codes]
    begins = ~space
    begins[1:] &= space[:-1]  # the first character of each token
    starts = np.cumsum(lengths) - lengths  # (lines,), where each line begins

    def per_line(flags: np.ndarray) -> np.ndarray:
        total = np.zeros(len(flags) + 1, np.int64)
        np.cumsum(flags, out=total[1:])
        return total[starts + lengths] - total[starts]

    tokens = per_line(begins)
    token_starts = np.flatnonzero(begins)
    ends = space.copy()
    ends[1:] &= ~space[:-1]
    ends[:1] = False
    widths = np.flatnonzero(ends) - token_starts  # (tokens of all lines,)
    longest = np.zeros(len(texts), np.int64)
    filled = tokens > 0
    if filled.any():
        first_token = (np.cumsum(tokens) - tokens)[filled]
        longest[filled] = np.maximum.reduceat(widths, first_token)
    return Features(
        tokens=tokens,
        letter_tokens=per_line(begins & letter),
        characters=per_line(~space),
        letters=per_line(letter),
        longest_word=longest,
    )
