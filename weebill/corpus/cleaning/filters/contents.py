"""Filters that read: whether the sides hold the same, other numbers or URLs, or a broken encoding."""

import re
from collections import Counter
from collections.abc import Callable
from unicodedata import decimal

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Pairs, any_side, none


def _unequal(pairs: Pairs, suspects: np.ndarray, find: Callable) -> np.ndarray:
    """Those of the suspected rows, (rows,) bool, whose sides do not hold the same things."""
    rejected = none(pairs)
    if pairs.parallel:
        source, target = pairs.sides
        for row in np.flatnonzero(suspects).tolist():
            rejected[row] = find(source[row]) != find(target[row])
    return rejected


def identical(pairs: Pairs, context: Context) -> np.ndarray:
    """Sides that are equal after lowercasing."""
    if not pairs.parallel:
        return none(pairs)
    source, target = (side.tokens for side in pairs.features)
    suspects = source == target  # lowercasing does not change the number of tokens
    return suspects & ~_unequal(pairs, suspects, str.lower)


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
    return _unequal(pairs, any_side(pairs, lambda side: side.digits > 0), numbers_in)


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
