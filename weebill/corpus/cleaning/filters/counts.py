"""Filters that compare counts on a side with thresholds (WMT21 footnote 2, but letters of both sides)."""

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
    """Most words on a side. Letters of scripts without spaces count by their share in a word: a fifth of Thai, Khmer,
    Lao, Burmese and Tibetan, 0.3 of kana and 0.6 of Chinese letters."""
    max_length_ratio: Annotated[float, Ge(1)] = 1.45
    """Most letters of the longer side per letter of the shorter, after division by the expected ratio. A Chinese
    letter counts as 3, kana as 1.5 and Hangul as 2.3; 15 are added to both sides, so that short lines may differ
    more."""
    expected_length_ratio: Positive | None = None
    """Expected letters of the target per letter of the source, counted in this way; by default the median of the
    corpus, from the first rows of each shard."""
    min_letter_tokens: Share = 0.4
    """Smallest share of words that begin, after punctuation marks, with a letter of the language's script."""
    min_letter_characters: Share = 0.5
    """Smallest share of characters, without spaces, that are such letters; Chinese letters, kana and Hangul count as
    in `max_length_ratio`."""
    max_word_characters: Count = 150
    """Most characters of the longest word."""
    max_repeats: Count = 3
    """Most times that a word, or a phrase of up to 12 words, may stand in a row on one side alone; twice as often if
    it is a single letter of a script without spaces."""


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    # A product would make 2 of 5 less than 0.4 by a rounding error; this division does not.
    return part / np.maximum(whole, 1)


def empty(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a side without a token."""
    return any_side(pairs, lambda side: side.tokens == 0)


def too_long(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a side of more than `max_tokens` words."""
    return any_side(pairs, lambda side: side.words > context.rules.max_tokens)


# Added to both lengths; about three words.  A limit for the ratio of the sums is one for the difference of the
# lengths that grows more slowly than they do.
SHORT = 15
# A corpus of this many pairs moves the expected ratio half the way from 1, that of all languages, to its own median.
FEW_PAIRS = 100
BINS = np.linspace(-2, 2, 401)  # of log ratios; a pair further out counts as at the edge


def length_ratio_counts(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Count pairs by the logarithm of their length ratio, (400,) int64, in the bins BINS; both lengths: (pairs,)."""
    filled = (source > 0) & (target > 0)
    ratios = np.log(target[filled] / source[filled])
    return np.histogram(np.clip(ratios, BINS[0], BINS[-1]), BINS)[0]


def expected_length_ratio(counts: np.ndarray) -> float:
    """Return the expected target length per source length, from counts of `length_ratio_counts`.

    It is their median, which noise and shuffled pairs hardly move: they are too long about as often as too short.
    """
    pairs = int(counts.sum())
    middle = np.searchsorted(np.cumsum(counts), pairs / 2) if pairs else len(counts) // 2
    median = (BINS[middle] + BINS[middle + 1]) / 2 if pairs else 0.0
    return float(np.exp(median * pairs / (pairs + FEW_PAIRS)))


def length_ratio(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose lengths, by the expected ratio, differ by more than the factor `max_length_ratio`."""
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
    """Reject pairs in which one side alone says a phrase more than `max_repeats` times in a row."""
    most, found = context.rules.max_repeats, []
    for texts, side in zip(pairs.sides, pairs.features, strict=True):
        repeated = side.repeats > most
        for row in np.flatnonzero((side.longest_word >= LONG_WORD) & ~repeated).tolist():
            long = [word for word in texts[row].split() if len(word) >= LONG_WORD]
            repeated[row] = any(repeats_a_part(word, most) for word in long)
        found.append(repeated)
    return np.logical_xor(*found) if pairs.parallel else found[0]
