"""Filters that compare counts with thresholds (WMT21 footnote 2, but letters are counted on both sides)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Pairs, any_side, none
from weebill.corpus.cleaning.repetition import LONG_WORD, repeats_a_part
from weebill.settings import Count, Ge, Positive, Share


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of the filters that count and compare."""

    max_tokens: Count = 150
    """Most words on a side. In scripts without spaces, a letter counts as a part of a word: 0.2 in Thai, Khmer, Lao,
    Burmese and Tibetan, 0.3 for kana and 0.6 for Chinese letters."""
    max_length_ratio: Annotated[float, Ge(1)] = 1.45
    """Largest ratio of the sides' letters, longer to shorter, after division by the expected ratio. A Chinese
    letter counts as 3, kana as 1.5 and Hangul as 2.3; 15 are added to both sides, so that short lines may differ
    more."""
    expected_length_ratio: Positive | None = None
    """Expected letters of the target per letter of the source, counted as in `max_length_ratio`; by default the
    median of the corpus, measured on the first rows of each shard."""
    min_letter_tokens: Share = 0.4
    """Smallest share of words that begin with a letter of the language's script, after any punctuation marks."""
    min_letter_characters: Share = 0.5
    """Smallest share of characters, without spaces, that are letters of the language's script; Chinese letters, kana
    and Hangul count as in `max_length_ratio`."""
    max_word_characters: Count = 150
    """Most characters of the longest word."""
    max_repeats: Count = 3
    """Most times that a word, or a phrase of up to 12 words, may be said in a row on one side only; twice as often
    for a single letter of a script without spaces."""


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    # Division, because in a product of 0.4 and 5 a rounding error could make 2 too small.
    return part / np.maximum(whole, 1)


def empty(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs if a side has no token."""
    return any_side(pairs, lambda side: side.tokens == 0)


def too_long(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a side of more than `max_tokens` words."""
    return any_side(pairs, lambda side: side.words > context.rules.max_tokens)


# Letters added to both lengths; about three words.  They let short lines differ more: the allowed difference grows
# more slowly than the lengths.
SHORT = 15
# The expected ratio of a corpus of FEW_PAIRS pairs is halfway between 1, the default, and the median of its pairs.
FEW_PAIRS = 100
BINS = np.linspace(-2, 2, 401)  # log ratios; pairs beyond them count in the outermost bins


def length_ratio_counts(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Count the pairs in each bin of BINS by the logarithm of their length ratio, (400,) int64; lengths: (pairs,)."""
    filled = (source > 0) & (target > 0)
    ratios = np.log(target[filled] / source[filled])
    return np.histogram(np.clip(ratios, BINS[0], BINS[-1]), BINS)[0]


def expected_length_ratio(counts: np.ndarray) -> float:
    """Return the expected target length per source length, from counts of `length_ratio_counts`.

    It is the median, which noise and shuffled pairs hardly change: they are too long about as often as too short.
    """
    pairs = int(counts.sum())
    middle = np.searchsorted(np.cumsum(counts), pairs / 2) if pairs else len(counts) // 2
    median = (BINS[middle] + BINS[middle + 1]) / 2 if pairs else 0.0
    return float(np.exp(median * pairs / (pairs + FEW_PAIRS)))


def length_ratio(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose length ratio, divided by the expected one, exceeds `max_length_ratio` either way."""
    if not pairs.parallel:
        return none(pairs)
    expected = context.rules.expected_length_ratio or context.length_ratio
    source, target = (side.length for side in pairs.features)
    expected = expected or expected_length_ratio(length_ratio_counts(source, target))
    source, target = source + SHORT, target / expected + SHORT
    return np.maximum(source, target) / np.minimum(source, target) > context.rules.max_length_ratio


def letter_tokens(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs if too few tokens of a side begin with a letter of its language's script."""
    least = context.rules.min_letter_tokens
    return any_side(pairs, lambda side: _ratio(side.letter_tokens, side.tokens) < least)


def letter_characters(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs if too few characters of a side are letters of its language's script."""
    least = context.rules.min_letter_characters
    return any_side(pairs, lambda side: _ratio(side.letters, side.length) < least)


def long_word(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a word of more than `max_word_characters` characters."""
    return any_side(pairs, lambda side: side.longest_word > context.rules.max_word_characters)


def repetition(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs in which only one side says a phrase more than `max_repeats` times in a row."""
    most, found = context.rules.max_repeats, []
    for texts, side in zip(pairs.sides, pairs.features, strict=True):
        repeated = side.repeats > most
        for row in np.flatnonzero((side.longest_word >= LONG_WORD) & ~repeated).tolist():
            long = [word for word in texts[row].split() if len(word) >= LONG_WORD]
            repeated[row] = any(repeats_a_part(word, most) for word in long)
        found.append(repeated)
    return np.logical_xor(*found) if pairs.parallel else found[0]
