"""Filters that compare counts on a side with thresholds (WMT21 footnote 2, but letters of both sides)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Pairs, any_side, none
from weebill.settings import Count, Ge, Share


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of the filters that count and compare."""

    max_tokens: Count = 150
    """Most words on a side; in Chinese and Japanese each letter counts as one."""
    max_length_ratio: Annotated[float, Ge(1)] = 2.0
    """Most words of the longer side per word of the shorter. Letters of Chinese or Japanese are about 1.7 and 2.5 to
    a word of English, so 4 suits them."""
    min_letter_tokens: Share = 0.4
    """Smallest share of words that begin with a letter of the language's script."""
    min_letter_characters: Share = 0.5
    """Smallest share of characters, without spaces, that are such letters."""
    max_word_characters: Count = 150
    """Most characters of the longest word."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.max_word_characters < 1:
            raise ValueError("max_tokens and max_word_characters must be at least 1")
        if self.max_length_ratio < 1:
            raise ValueError("max_length_ratio must be at least 1")
        if not (0 <= self.min_letter_tokens <= 1 and 0 <= self.min_letter_characters <= 1):
            raise ValueError("min_letter_tokens and min_letter_characters are shares from 0 to 1")


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    # A product would make 2 of 5 less than 0.4 by a rounding error; this division does not.
    return part / np.maximum(whole, 1)


def empty(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a side without a token."""
    return any_side(pairs, lambda side: side.tokens == 0)


def too_long(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a side of more than `max_tokens` tokens."""
    return any_side(pairs, lambda side: side.tokens > context.rules.max_tokens)


def length_ratio(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose sides' numbers of tokens differ by more than the factor `max_length_ratio`."""
    if not pairs.parallel:
        return none(pairs)
    source, target = (side.tokens for side in pairs.features)
    longer, shorter = np.maximum(source, target), np.minimum(source, target)
    return _ratio(longer, shorter) > context.rules.max_length_ratio


def letter_tokens(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs if too few tokens of a side begin with a letter of its language's script."""
    least = context.rules.min_letter_tokens
    return any_side(pairs, lambda side: _ratio(side.letter_tokens, side.tokens) < least)


def letter_characters(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs if too few characters of a side are letters of its language's script."""
    least = context.rules.min_letter_characters
    return any_side(pairs, lambda side: _ratio(side.letters, side.characters) < least)


def long_word(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a word of more than `max_word_characters` characters."""
    return any_side(pairs, lambda side: side.longest_word > context.rules.max_word_characters)
