"""Arguments of every filter: a batch of normalised pairs with its features, and the settings and models."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from weebill.corpus.cleaning.joined_lines import joined_lines, spaces, sums
from weebill.corpus.cleaning.letters import letters
from weebill.corpus.cleaning.repetition import LONGEST_PHRASE
from weebill.corpus.cleaning.writing_systems import (
    DENSE,
    LETTERS_PER_WORD,
    UNSPACED,
    density,
    divisions,
    unspaced_bits,
)
from weebill_runtime.characters import CODEPOINTS, of_category
from weebill_runtime.names import SIDES, Side

# Bits of a character's classes.  _WRITTEN: a letter or digit of any script.  _JOINING: a no-break space.
_SPACE, _LETTER, _DIGIT, _WRITTEN, _JOINING = 1, 2, 4, 8, 16


class Features(NamedTuple):
    """Features of lines for the rules; every array is (lines,)."""

    tokens: np.ndarray  # separated by white space; in scripts without spaces also each letter
    letter_tokens: np.ndarray  # tokens whose first letter or digit is of the language's script
    characters: np.ndarray  # without white space
    letters: np.ndarray  # letters of the language's script, weighted by `density`
    longest_word: np.ndarray  # number of characters of the longest token
    digits: np.ndarray  # decimal digits of any script
    # Characters, weighted by `density`, so that a line and its translation have about the same length.
    length: np.ndarray
    words: np.ndarray  # tokens; in scripts without spaces a letter counts as a part of a word
    repeats: np.ndarray  # most times that a phrase is said in a row: 3 in "no no no"


@dataclass
class Pairs:
    """Rows of a corpus with their languages and computed features; monolingual text has one side."""

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
    # Expected length of a target per length of its source; None: measured on the batch.
    length_ratio: float | None = None


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
    bits = spaces() * _SPACE + letters(language) * _LETTER + of_category("Nd") * _DIGIT
    bits += of_category("L", "Nd") * _WRITTEN
    bits[[0xA0, 0x2007, 0x2009, 0x202F]] |= _JOINING
    return bits.astype(np.uint8) | unspaced_bits()


@cache
def _keys(language: str) -> np.ndarray:
    """Return a hash key of each letter and digit, 0 of other characters, (0x110000,) uint32, to compare tokens."""
    codes = np.arange(CODEPOINTS, dtype=np.uint32)
    mixed = (codes * np.uint32(2654435761)) ^ (codes << 7)
    mixed[_classes(language) & (_LETTER | _DIGIT) == 0] = 0
    return mixed


def measure(texts: list[str], language: str) -> Features:
    """Measure the features of lines of a language (ISO 639-1)."""
    codes, bounds = joined_lines(texts)
    classes = _classes(language)[codes]  # (characters of all lines,)
    present = np.bitwise_or.reduce(classes, initial=0)
    space = (classes & _SPACE).view(bool)
    if present & _JOINING:  # 1 234 is one token, like 1,234
        digit = classes & _DIGIT != 0
        space[1:-1] &= ~((classes[1:-1] & _JOINING != 0) & digit[:-2] & digit[2:])

    # A token begins at a change from space to other characters, and ends at the change back.
    changes = np.flatnonzero(space[1:] != space[:-1]) + 1
    if len(space) and not space[0]:
        changes = np.concatenate([[0], changes])
    starts, ends = changes[0::2], changes[1::2]  # (tokens of all lines,)
    unspaced = present & UNSPACED
    if unspaced:
        between = ~(space[1:] | space[:-1]) & divisions(classes)
        first, last = np.zeros(len(space), bool), np.zeros(len(space) + 1, bool)
        first[starts] = last[ends] = True
        first[1:] |= between
        last[1:-1] |= between
        starts, ends = np.flatnonzero(first), np.flatnonzero(last)
    tokens_before = np.searchsorted(starts, bounds)  # (lines + 1,)
    tokens = np.diff(tokens_before)
    longest = np.zeros(len(texts), np.int64)
    filled = tokens > 0
    if filled.any():
        longest[filled] = np.maximum.reduceat(ends - starts, tokens_before[:-1][filled])
    characters = np.diff(_counted(ends - starts)[tokens_before])
    letter = (classes & _LETTER) != 0
    length, letters_of = characters, letter.view(np.uint8)
    if codes.size and codes.max() >= DENSE:
        weights = density()[codes]
        length, letters_of = sums(weights * ~space, bounds), weights * letter
    words = tokens
    if unspaced:
        single = classes[starts] & UNSPACED != 0
        excess = single * (density()[codes[starts]] / LETTERS_PER_WORD - 1)
        words = tokens + np.diff(_counted(excess)[tokens_before])
    begins = _begins(classes, starts, ends)
    return Features(
        tokens=tokens,
        letter_tokens=np.diff(_counted(classes[begins] & _LETTER != 0)[tokens_before]),
        characters=characters,
        letters=sums(letters_of, bounds),
        longest_word=longest,
        digits=np.diff(np.searchsorted(np.flatnonzero((classes & _DIGIT) != 0), bounds)),
        length=length,
        words=words,
        repeats=_repeats(_keys(language)[codes], classes, starts, begins, tokens_before),
    )


def _begins(classes: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the place of each token's first letter or digit, (tokens,), or of its beginning if it has neither."""
    begins = starts.copy()
    other = np.flatnonzero(classes[starts] & _WRITTEN == 0)
    if len(other):
        places = np.append(np.flatnonzero(classes & _WRITTEN), len(classes))
        found = places[np.searchsorted(places, starts[other])]
        begins[other] = np.where(found < ends[other], found, starts[other])
    return begins


@cache
def _lengths() -> np.ndarray:
    return density() * ~spaces()


def line_lengths(texts: list[str]) -> np.ndarray:
    """Return only the feature `length` of lines, (lines,)."""
    codes, bounds = joined_lines(texts)
    return sums(_lengths()[codes], bounds)


def _repeats(
    keys: np.ndarray,
    classes: np.ndarray,
    starts: np.ndarray,
    begins: np.ndarray,
    before: np.ndarray,
) -> np.ndarray:
    """Return how often a phrase of up to LONGEST_PHRASE tokens is said in a row, at most, per line, (lines,) int64.

    Tokens begin with a letter; punctuation around and between them does not matter.  A single letter of a
    script without spaces counts half, because laughter repeats it.
    keys, classes: of all characters.  starts: place of each token's first character.  begins: result of `_begins`.
    before: (lines + 1,), number of tokens before each line.
    """
    most = np.ones(len(before) - 1, np.int64)
    if not len(starts):
        return most
    written = np.bitwise_or.reduceat(classes, starts) & _WRITTEN != 0
    keys = np.add.reduceat(keys, starts)[written]  # (tokens,); equal for equal tokens
    before = _counted(written)[before]
    first = classes[begins[written]]  # of each token's first letter or digit
    letter = (first & _LETTER) != 0
    for size in range(1, LONGEST_PHRASE + 1):
        same = np.flatnonzero((keys[size:] == keys[:-size]) & letter[size:] & letter[:-size])
        line = np.searchsorted(before, same, "right") - 1
        inside = same + size < before[line + 1]
        same, line = same[inside], line[inside]
        if not len(same):
            continue
        ends = np.flatnonzero(np.append((np.diff(same) != 1) | (np.diff(line) != 0), True))
        runs = np.diff(ends, prepend=-1)  # lengths of runs of tokens equal to the one `size` later
        counts = runs // size + 1
        if size == 1:
            alone = first[same[ends]] & UNSPACED != 0
            counts = np.where(alone, (runs + 2) // 2, counts)
        np.maximum.at(most, line[ends], counts)
    return most


def _counted(values: np.ndarray) -> np.ndarray:
    """Return the sum of all values before each position, (n + 1,) int64."""
    return np.concatenate([[0], np.cumsum(values)])
