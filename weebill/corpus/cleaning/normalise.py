"""Text normalisation: removal of non-printing characters, and punctuation as in Moses' scripts.

`normalise_punctuation` gives the text of sacremoses' MosesPunctNormalizer with its defaults.  Substitutions run on
many joined lines at once, so that each costs only the search for its characters; no pattern crosses a line's end.
"""

import re
from collections.abc import Iterable
from functools import cache

import numpy as np

from weebill.corpus.cleaning.characters import character_class, code_points, of_category

# (required text, pattern, replacement), in Moses' order.  A pattern of None stands for the required text itself.  The
# others also begin with plain text, which `re` finds much faster than a class or a repetition.
_SPACES = ("  ", r"  +", " ")


def _each(texts: Iterable[str], replacement: str) -> list[tuple]:
    return [(text, None, replacement) for text in texts]


_SPACING = [
    ("\r", None, ""),
    ("(", None, " ("),
    (")", None, ") "),
    _SPACES,
    (") ", r"\) ([.!:?;,])", r")\1"),
    ("( ", None, "("),
    (" )", None, ")"),
    (" %", r" %(?<=\d %)", "%"),
    (" :", None, ":"),
    (" ;", None, ";"),
    ("`", None, "'"),
    ("''", None, ' " '),
]
_UNICODE = [
    *_each("„“”", '"'),
    ("–", None, "-"),
    ("—", None, " - "),
    _SPACES,
    *_each("´‘‚’", "'"),  # Moses has a separate rule for ‘ between letters, with the same result
    ("''", None, '"'),
    ("…", None, "..."),
]
_NO_BREAK_SPACES = [
    *_each(("\u00a0«\u00a0", "«\u00a0", "«", "\u00a0»\u00a0", "\u00a0»", "»"), '"'),
    ("\u00a0%", None, "%"),
    ("nº\u00a0", None, "nº "),
    ("\u00a0:", None, ":"),
    ("\u00a0ºC", None, " ºC"),
    ("\u00a0cm", None, " cm"),
    *((f"\u00a0{mark}", None, mark) for mark in "?!;"),
    (",\u00a0", None, ", "),
]
_ENGLISH_QUOTES = [('"', r'"([,.]+)', r'\1"')]
_CONTINENTAL_QUOTES = [
    (',"', None, '",'),
    # Every run of dots is matched once, with any text after it: otherwise a line of dots takes quadratic time.
    (
        '."',
        r'(\.+)(?:"([^\S\n]*[^<\n]))?',
        lambda match: f'"{match[1]}{match[2]}' if match[2] else match[0],
    ),
]


# Moses replaces every non-printing character by a space, which would split words at soft hyphens and zero-width
# marks (category Cf); here these are removed.  Line and paragraph separators become spaces too, because other
# programs would split the line there.
@cache
def _one_of(*categories: str) -> re.Pattern[str]:
    return re.compile(f"[{character_class(*categories)}]")


def remove_non_printing(text: str) -> str:
    """Remove zero-width characters from `text`, and replace other non-printing ones by a space."""
    if text.isprintable():
        return text
    non_printing = _one_of("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
    return non_printing.sub(" ", _one_of("Cf").sub("", text))


def normalise_punctuation(lines: list[str], language: str) -> list[str]:
    """Normalise the punctuation of lines (without "\\n") of a language (ISO 639-1)."""
    steps = _steps(language)
    kinds: tuple[list[int], ...] = tuple([] for _ in steps)
    for number, line in enumerate(lines):
        kinds[0 if line.isascii() else 2 if "\u00a0" in line else 1].append(number)
    result = list(lines)
    for numbers, substitutions in zip(kinds, steps, strict=True):
        text = "\n".join([lines[number] for number in numbers])
        for needed, substitute, new in substitutions:
            if needed in text:
                text = text.replace(needed, new) if substitute is None else substitute(new, text)
        for number, line in zip(numbers, text.split("\n"), strict=False):
            result[number] = line.strip()
    return result


@cache
def _steps(language: str) -> tuple[list[tuple], ...]:
    """Return the substitutions for lines in ASCII, for other lines, and for lines with no-break spaces."""
    quotes = {"en": _ENGLISH_QUOTES, **dict.fromkeys(("de", "es", "fr"), _CONTINENTAL_QUOTES)}
    separator = "," if language in ("de", "es", "cz", "cs", "fr") else "."
    digit_space = ("\u00a0", "(\\d)\u00a0(\\d)", rf"\1{separator}\2")
    last = [_SPACES, *quotes.get(language, [])]
    all_steps = (
        [*_SPACING, *last],
        [*_SPACING, *_UNICODE, *_each("«»", '"'), *last],
        [*_SPACING, *_UNICODE, *_NO_BREAK_SPACES, *last, digit_space],
    )
    return tuple(
        [(needed, pattern and re.compile(pattern).sub, new) for needed, pattern, new in steps]
        for steps in all_steps
    )


def normalise(texts: Iterable[str], language: str) -> list[str]:
    """Remove non-printing characters from lines, then normalise their punctuation."""
    return normalise_punctuation([remove_non_printing(text) for text in texts], language)


_DROPPED, _KEPT, _DIGIT = 0, 1, 2  # effect of folding on a character; digits are also kept
_BETWEEN_DIGITS = re.compile(rb"\x02\x00+(?=\x02)")


@cache
def _folding() -> np.ndarray:
    """Return the effects on all characters, (0x110000,) uint8, by code point."""
    effects = np.where(of_category("P", "Z", "C"), _DROPPED, _KEPT).astype(np.uint8)
    effects[of_category("Nd")] = _DIGIT
    effects[ord("\n")] = _KEPT  # it separates the joined lines
    return effects


def folded(lines: list[str]) -> list[str]:
    """Remove case, punctuation and white space from lines (without "\\n"), except between two digits.

    So "3.5" differs from "35", and "50 $" from "50 €", because symbols are kept.
    """
    codes = code_points("\n".join([line.casefold() for line in lines]))
    classes = _folding()[codes]  # (characters,)
    for found in _BETWEEN_DIGITS.finditer(classes.tobytes()):
        classes[found.start() + 1 : found.end()] = _KEPT
    text = codes[classes != _DROPPED].tobytes().decode("utf-32-le", "surrogatepass")
    return text.split("\n") if lines else []
