"""Text normalisation: non-printing characters removed, punctuation as the Moses scripts make it.

The result of `normalise_punctuation` equals sacremoses' MosesPunctNormalizer with its defaults, which is
a port of Moses' normalize-punctuation.perl.  Each substitution is tried only on lines that hold the
characters it cannot do without, so most lines cost a few membership tests.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

from goldcrest.corpus.cleaning.characters import character_class

# (what a line must hold, pattern, replacement), in Moses' order.  A pattern of None is plain text.
_SPACING = [
    ("\r", None, ""),
    ("(", None, " ("),
    (")", None, ") "),
    ("  ", r" +", " "),
    (") ", r"\) ([.!:?;,])", r")\1"),
    ("( ", None, "("),
    (" )", None, ")"),
    (" %", r"(\d) %", r"\1%"),
    (" :", None, ":"),
    (" ;", None, ";"),
    ("`", None, "'"),
    ("''", None, ' " '),
]
_UNICODE = [
    ("„", None, '"'),
    ("“", None, '"'),
    ("”", None, '"'),
    ("–", None, "-"),
    ("—", None, " - "),
    ("  ", r" +", " "),
    ("´", None, "'"),
    ("‘", r"([a-zA-Z])‘([a-zA-Z])", r"\1'\2"),
    ("’", r"([a-zA-Z])’([a-zA-Z])", r"\1'\2"),
    ("‘", None, "'"),
    ("‚", None, "'"),
    ("’", None, "'"),
    ("''", None, '"'),
    ("…", None, "..."),
    ("\u00a0«\u00a0", None, '"'),
    ("«\u00a0", None, '"'),
    ("«", None, '"'),
    ("\u00a0»\u00a0", None, '"'),
    ("\u00a0»", None, '"'),
    ("»", None, '"'),
    ("\u00a0%", None, "%"),
    ("nº\u00a0", None, "nº "),
    ("\u00a0:", None, ":"),
    ("\u00a0ºC", None, " ºC"),
    ("\u00a0cm", None, " cm"),
    ("\u00a0?", None, "?"),
    ("\u00a0!", None, "!"),
    ("\u00a0;", None, ";"),
    (",\u00a0", None, ", "),
]
_LAST_SPACES = [("  ", r" +", " ")]
_ENGLISH_QUOTES = [('"', r'"([,.]+)', r'\1"')]
_CONTINENTAL_QUOTES = [
    (',"', None, '",'),
    ('."', r'(\.+)"(\s*[^<])', r'"\1\2'),
]
_DIGIT_SPACE = ("\u00a0", "(\\d)\u00a0(\\d)")

# Moses replaces every non-printing character by a space, which tears words apart at soft hyphens and
# zero-width marks (category Cf); these are removed.  Line and paragraph separators become spaces too,
# since other programs would split the line there.
_NON_PRINTING = re.compile(f"[{character_class('Cc', 'Cf', 'Co', 'Cs', 'Zl', 'Zp')}]")
_ZERO_WIDTH = re.compile(f"[{character_class('Cf')}]")


def remove_non_printing(text: str) -> str:
    """`text` with zero-width characters removed and other non-printing ones replaced by a space."""
    if text.isprintable():
        return text
    return _NON_PRINTING.sub(" ", _ZERO_WIDTH.sub("", text))


@cache
def punctuation_normaliser(language: str) -> Callable[[str], str]:
    """The punctuation normaliser of a language (ISO 639-1), a function from line to line."""
    quotes = {"en": _ENGLISH_QUOTES, **dict.fromkeys(("de", "es", "fr"), _CONTINENTAL_QUOTES)}
    separator = "," if language in ("de", "es", "cz", "cs", "fr") else "."
    ascii_steps = _compile([*_SPACING, *_LAST_SPACES, *quotes.get(language, [])])
    all_steps = _compile(
        [
            *_SPACING,
            *_UNICODE,
            *_LAST_SPACES,
            *quotes.get(language, []),
            (*_DIGIT_SPACE, rf"\1{separator}\2"),
        ]
    )

    def normalise(text: str) -> str:
        for needed, substitute, replacement in ascii_steps if text.isascii() else all_steps:
            if needed in text:
                plain = substitute is None
                text = text.replace(needed, replacement) if plain else substitute(replacement, text)
        return text.strip()

    return normalise


def normalise(texts: Iterable[str], language: str) -> list[str]:
    """Lines without non-printing characters and with normalised punctuation, in this order."""
    punctuation = punctuation_normaliser(language)
    return [punctuation(remove_non_printing(text)) for text in texts]


class _Ignored(dict):
    """A table for str.translate, filled on demand: punctuation, symbols, space and control go."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code))[0] in "PSZC" else code
        return self[code]


_IGNORED = _Ignored()


def folded(text: str) -> str:
    """`text` without case, punctuation, symbols and white space."""
    return text.casefold().translate(_IGNORED)


def _compile(steps: list[tuple[str, str | None, str]]) -> list[tuple]:
    return [
        (needed, pattern and re.compile(pattern).sub, replacement)
        for needed, pattern, replacement in steps
    ]
