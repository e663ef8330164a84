"""Arguments of every filter: a batch of normalised pairs with its features, and the settings and models."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from weebill.corpus.cleaning.characters import CODEPOINTS, code_points, letters, of_category
from weebill.corpus.cleaning.writing_systems import UNSPACED, divisions, unspaced_bits
from weebill.experiment.corpora import SIDES, Side

_SPACE, _LETTER, _DIGIT = 1, 2, 4  # bits of the classes of a character


class Features(NamedTuple):
    """Features of lines for the rules; every array is (lines,)."""

    tokens: (
        np.ndarray
    )  # separated by white space; each letter of a script without spaces is also a token
    letter_tokens: np.ndarray  # tokens that begin with a letter of the language's script
    characters: np.ndarray  # without white space
    letters: np.ndarray  # letters of the language's script
    longest_word: np.ndarray  # number of characters of the longest token
    digits: np.ndarray  # decimal digits of any script


@dataclass
class Pairs:
    """Rows of a corpus with their languages; monolingual text has one side.  The features are computed."""

    sides: tuple[list[str], ...]  # texts (rows,) of each side in `named`
    languages: tuple[str, ...]
    repeats: np.ndarray  # (rows,) uint8: verdicts of deduplicate.py
    named: tuple[Side, ...] = SIDES
    features: tuple[Features, ...] = ()  # of each side

    def __post_init__(self) -> None:
        self.features = self.features or tuple(map(measure, self.sides, self.languages))

    def __len__(self) -> int:
        return len(self.sides[0])

    @property
    def parallel(self) -> bool:
        """True if the pairs have both sides."""
        return len(self.sides) == 2

    def take(self, rows: np.ndarray) -> "Pairs":
        """Return the rows with the numbers `rows` as a smaller batch."""
        numbers = rows.tolist()
        return replace(
            self,
            sides=tuple([side[i] for i in numbers] for side in self.sides),
            repeats=self.repeats[rows],
            features=tuple(Features(*(column[rows] for column in one)) for one in self.features),
        )


@dataclass(frozen=True)
class Context:
    """Settings, model and held-out text of the filters; a filter whose part is None rejects nothing."""

    rules: Any  # rules.Rules
    identifier: Any = None  # language_id.LanguageIdentifier
    held_out: Any = None  # overlap.HeldOut
    near_duplicates: bool = True


# A filter returns (rows,) bool, True for the rows that it rejects; `dropped_by` shows its name.
Filter = Callable[[Pairs, Context], np.ndarray]


def none(pairs: Pairs) -> np.ndarray:
    """Return the verdict that rejects no row: (rows,) False."""
    return np.zeros(len(pairs), bool)


def any_side(pairs: Pairs, test: Callable[[Features], np.ndarray]) -> np.ndarray:
    """Return the rows, (rows,) bool, for which the features of at least one side pass a test."""
    return np.logical_or.reduce([test(features) for features in pairs.features])


def any_text(pairs: Pairs, test: Callable[[str], bool]) -> np.ndarray:
    """Return the rows, (rows,) bool, for which the text of at least one side passes a test."""
    return np.logical_or.reduce([np.fromiter(map(test, side), bool) for side in pairs.sides])


@cache
def _classes(language: str) -> np.ndarray:
    """Return the class bits of all characters, (0x110000,) uint8, by code point."""
    space = np.zeros(CODEPOINTS, bool)
    for code in np.flatnonzero(of_category("Z", "Cc")).tolist():
        space[code] = chr(code).isspace()
    bits = space * _SPACE + letters(language) * _LETTER + of_category("Nd") * _DIGIT
    return bits.astype(np.uint8) | unspaced_bits()


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
    if (classes & UNSPACED).any():
        between = ~(space[1:] | space[:-1]) & divisions(classes)
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
    return np.concatenate([[0], np.cumsum(values)])
