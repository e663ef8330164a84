"""Filters that compare counts of tokens, letters and characters on a side with the thresholds of the rules.

They are the rules of WMT21 footnote 2, which tests letters on the source side only; these filters test both sides.
"""

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Pairs, any_side, none


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
    return any_side(
        pairs,
        lambda side: _ratio(side.letter_tokens, side.tokens) < context.rules.min_letter_tokens,
    )


def letter_characters(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs if too few characters of a side are letters of its language's script."""
    return any_side(
        pairs,
        lambda side: _ratio(side.letters, side.characters) < context.rules.min_letter_characters,
    )


def long_word(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a word of more than `max_word_characters` characters."""
    return any_side(pairs, lambda side: side.longest_word > context.rules.max_word_characters)
