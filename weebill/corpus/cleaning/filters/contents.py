"""Filters by content: equal sides, sides with different URLs, and broken encodings."""

import re
from collections import Counter
from collections.abc import Callable
from operator import eq

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Pairs, any_text, none


def _unequal(
    pairs: Pairs, suspects: np.ndarray, find: Callable, alike: Callable = eq
) -> np.ndarray:
    """Return the suspected rows, (rows,) bool, for whose two sides `find` returns results that are not alike."""
    rejected = none(pairs)
    if pairs.parallel:
        source, target = pairs.sides
        for row in np.flatnonzero(suspects).tolist():
            rejected[row] = not alike(find(source[row]), find(target[row]))
    return rejected


def identical(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose sides are equal after lowercasing."""
    if not pairs.parallel:
        return none(pairs)
    source, target = (side.tokens for side in pairs.features)
    suspects = source == target  # lowercasing does not change the number of tokens
    return suspects & ~_unequal(pairs, suspects, str.lower)


# Characters of URLs are ASCII and Latin letters.  Other letters and marks after a URL are text, as in Chinese.
_URL = re.compile(r"(?:https?://|www\.)[!#-;=?-~\u00c0-\u024f]+", re.IGNORECASE)


# Grammatical ending that follows a URL in Turkish, Finnish or Hungarian: example.com'da, :ista, -on.
_ENDING = re.compile(r"/?['\u2019:-][^\W\d_]{1,6}")


def urls_in(text: str) -> Counter[str]:
    """Count the URLs of a line, in lower case and without the punctuation that follows them."""
    return Counter(url.rstrip(".,;:!?)]}'").rstrip("/").lower() for url in _URL.findall(text))


def _may_hold_url(text: str) -> bool:
    # Lowercasing is slow, and only the few lines with "w." need it.
    return "://" in text or (("w." in text or "W." in text) and "www." in text.lower())


def urls(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose sides contain different URLs; grammatical endings, as in example.com'da, do not count."""
    return _unequal(pairs, any_text(pairs, _may_hold_url), urls_in, _same_urls)


def _same_urls(source: Counter[str], target: Counter[str]) -> bool:
    """Return True if both sides have the same URLs; either side may add grammatical endings to them."""
    one, other = source - target, target - source
    pairs = zip(sorted(one.elements()), sorted(other.elements()), strict=False)
    return one.total() == other.total() and all(
        _ENDING.fullmatch(max(both, key=len).removeprefix(min(both, key=len))) for both in pairs
    )


# Reading UTF-8 as cp1252 or Latin-1 turns "ü" into "Ã¼", "š" into "Å¡", "ế" into "áº¿" and a quote into "â€œ".
# Normalisation may have replaced the second character by a space, quotation mark or hyphen, or removed it.  The first
# must then stand after or before a small letter, because capitalised words end in it in some languages (Portuguese
# "IRMÃ"); so must letters other than Â and Ã, which signs may follow: 5 Å³.
_SECOND = "[¡-¿€ƒ†‡ˆ‰Š‹ŒŽ•˜™š›œžŸ]"
_BLANK = "[ \u00a0\"'-]"
BROKEN_ENCODING = re.compile(
    rf"\ufffd|[ÂÃ]{_SECOND}|â€|á[º»]{_SECOND}|[a-zà-ÿ]Ã(?:{_BLANK}|[a-zà-ÿ])|\bÃ{_BLANK}+(?=[a-z])"
    rf"|[a-zà-ÿ][ÄÅÆÈÉ](?:{_SECOND}|{_BLANK})|[ÄÅÆÈÉ]{_SECOND}(?=[a-z])"
)
_PARTS = ("Ã", "Â", "Ä", "Å", "Æ", "È", "É", "â€", "áº", "á»", "\ufffd")  # every match has one


def _is_broken(text: str) -> bool:
    return (
        not text.isascii()
        and any(map(text.__contains__, _PARTS))  # much faster than the search
        and BROKEN_ENCODING.search(text) is not None
    )


def garbled(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with characters of a wrong encoding on a side; the papers do not have this rule."""
    return any_text(pairs, _is_broken)
