"""The rule filters, one function each: which rows of a batch they reject.

Thresholds are those of the rule set that WMT21 footnote 2 points to; it tests letters on the source side
only, these test both.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from unicodedata import decimal

import numpy as np

from weebill.corpus.cleaning.features import Features
from weebill.corpus.cleaning.pairs import Context, Pairs, none


@dataclass(frozen=True)
class Rules:
    """Thresholds of the rules (WNGT20 §3, WMT21 §2)."""

    max_tokens: int = 150  # white-space tokens a side
    max_length_ratio: float = 2.0  # tokens of the longer side over those of the shorter
    min_letter_tokens: float = 0.4  # share of tokens that begin with a letter of the script
    min_letter_characters: float = 0.5  # share of non-space characters that are such letters
    max_word_characters: int = 150

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.max_word_characters < 1:
            raise ValueError("max_tokens and max_word_characters must be at least 1")
        if self.max_length_ratio < 1:
            raise ValueError("max_length_ratio must be at least 1")
        if not (0 <= self.min_letter_tokens <= 1 and 0 <= self.min_letter_characters <= 1):
            raise ValueError("min_letter_tokens and min_letter_characters are shares from 0 to 1")


def _any_side(pairs: Pairs, test: Callable[[Features], np.ndarray]) -> np.ndarray:
    return np.logical_or.reduce([test(features) for features in pairs.features])


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    # Divided rather than multiplied, so that 2 of 5 is not less than 0.4 by a rounding.
    return part / np.maximum(whole, 1)


def _unequal(pairs: Pairs, suspects: np.ndarray, find: Callable) -> np.ndarray:
    """Those of the suspected rows, (rows,) bool, whose sides do not hold the same things."""
    rejected = none(pairs)
    if pairs.parallel:
        source, target = pairs.sides
        for row in np.flatnonzero(suspects).tolist():
            rejected[row] = find(source[row]) != find(target[row])
    return rejected


def empty(pairs: Pairs, context: Context) -> np.ndarray:
    """A side without a token."""
    return _any_side(pairs, lambda side: side.tokens == 0)


def identical(pairs: Pairs, context: Context) -> np.ndarray:
    """Sides that are equal after lowercasing."""
    if not pairs.parallel:
        return none(pairs)
    source, target = (side.tokens for side in pairs.features)
    suspects = source == target  # lowercasing does not change the number of tokens
    return suspects & ~_unequal(pairs, suspects, str.lower)


def too_long(pairs: Pairs, context: Context) -> np.ndarray:
    """A side of more than `max_tokens` tokens."""
    return _any_side(pairs, lambda side: side.tokens > context.rules.max_tokens)


def length_ratio(pairs: Pairs, context: Context) -> np.ndarray:
    """Sides whose numbers of tokens differ by more than a factor of `max_length_ratio`."""
    if not pairs.parallel:
        return none(pairs)
    source, target = (side.tokens for side in pairs.features)
    longer, shorter = np.maximum(source, target), np.minimum(source, target)
    return _ratio(longer, shorter) > context.rules.max_length_ratio


def letter_tokens(pairs: Pairs, context: Context) -> np.ndarray:
    """A side with too few tokens that begin with a letter of its language's script."""
    return _any_side(
        pairs,
        lambda side: _ratio(side.letter_tokens, side.tokens) < context.rules.min_letter_tokens,
    )


def letter_characters(pairs: Pairs, context: Context) -> np.ndarray:
    """A side with too few letters of its language's script among its characters."""
    return _any_side(
        pairs,
        lambda side: _ratio(side.letters, side.characters) < context.rules.min_letter_characters,
    )


def long_word(pairs: Pairs, context: Context) -> np.ndarray:
    """A side with a word of more than `max_word_characters` characters."""
    return _any_side(pairs, lambda side: side.longest_word > context.rules.max_word_characters)


# Digits with the separators inside them: English writes 1,234.5 what German writes 1.234,5.
_NUMBER = re.compile(r"\d+(?:[.,'\u00a0\u202f]\d+)*")
_SEPARATORS = re.compile(r"\D")


def numbers_in(text: str) -> list[str]:
    """The numbers of a line as their digits alone, whatever their script, sorted."""
    return sorted(_digits(_SEPARATORS.sub("", number)) for number in _NUMBER.findall(text))


def _digits(number: str) -> str:
    return number if number.isascii() else "".join(str(decimal(digit)) for digit in number)


def numbers(pairs: Pairs, context: Context) -> np.ndarray:
    """Sides that do not hold the same numbers, in any order, whatever their separators."""
    return _unequal(pairs, _any_side(pairs, lambda side: side.digits > 0), numbers_in)


_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"]+", re.IGNORECASE)


def urls_in(text: str) -> Counter[str]:
    """The URLs of a line without the punctuation that follows them."""
    return Counter(url.rstrip(".,;:!?)]}'").rstrip("/").lower() for url in _URL.findall(text))


def _may_hold_url(text: str) -> bool:
    # Few lines have a "w." that makes lowercasing necessary.
    return "://" in text or (("w." in text or "W." in text) and "www." in text.lower())


def urls(pairs: Pairs, context: Context) -> np.ndarray:
    """Sides that do not hold the same URLs."""
    suspects = none(pairs)
    for side in pairs.sides:
        suspects |= np.fromiter(map(_may_hold_url, side), bool, len(side))
    return _unequal(pairs, suspects, urls_in)


# UTF-8 read as cp1252 or Latin-1 turns "ü" into "Ã¼" and a quotation mark into "â€œ".  Where normalisation
# has replaced the second character by a space, quotation mark or hyphen, the first must stand inside or
# before small letters, since capital words of some languages end in it (Portuguese "IRMÃ").
BROKEN_ENCODING = re.compile(
    "\ufffd|[ÂÃ][¡-¿€ƒ†‡ˆ‰Š‹ŒŽ•˜™š›œžŸ]|â€|[a-zà-ÿ]Ã[ \"'-]|\\bÃ[ \"'-](?=[a-z])"
)


def _is_broken(text: str) -> bool:
    # The pattern needs one of these characters, which few lines hold.
    return (
        not text.isascii()
        and ("Ã" in text or "Â" in text or "â€" in text or "\ufffd" in text)
        and BROKEN_ENCODING.search(text) is not None
    )


def garbled(pairs: Pairs, context: Context) -> np.ndarray:
    """A side with characters that a wrong encoding leaves behind (a rule of ours beside the papers')."""
    rejected = none(pairs)
    for side in pairs.sides:
        rejected |= np.fromiter(map(_is_broken, side), bool, len(side))
    return rejected
