"""Classes of characters from the Unicode database: by general category, and letters by script."""

import unicodedata
from functools import cache

import numpy as np

from weebill.errors import InputError, nearest

CODEPOINTS = 0x110000

# Languages (ISO 639-1) by the script in which they are written.
SCRIPTS = {
    "Arabic": "ar fa ur ps ug",
    "Armenian": "hy",
    "Bengali": "bn",
    "Cyrillic": "be bg kk ky mk mn ru sr tg tt uk",
    "Devanagari": "hi mr ne",
    "Georgian": "ka",
    "Greek": "el",
    "Gujarati": "gu",
    "Han": "zh",
    "Hangul": "ko",
    "Hebrew": "he yi",
    "Japanese": "ja",
    "Khmer": "km",
    "Latin": """af az bs ca cs cy da de en eo es et eu fi fr ga gl ha hr ht hu id ig is it la lb lt lv
        mg mi ms mt nb nl nn no oc pl pt ro rw sk sl sn so sq st su sv sw tl tn tr uz vi wo xh yo zu""",
    "Tamil": "ta",
    "Telugu": "te",
    "Thai": "th",
}
LANGUAGE_SCRIPTS = {code: script for script, codes in SCRIPTS.items() for code in codes.split()}
CASED_SCRIPTS = ("Armenian", "Cyrillic", "Greek", "Latin")
# The Unicode names of a script's letters begin with its own name, except for these.
LETTER_NAMES = {
    "Han": ("CJK ", "IDEOGRAPHIC "),
    "Japanese": ("CJK ", "IDEOGRAPHIC ", "HIRAGANA ", "KATAKANA "),
    "Latin": ("LATIN ", "MODIFIER LETTER ", "FEMININE ORDINAL", "MASCULINE ORDINAL"),
}


@cache
def of_category(*beginnings: str) -> np.ndarray:
    """Return the characters, (0x110000,) bool, whose category begins with an argument, such as "P" or "Cc"."""
    masks = (_categories().astype(f"S{len(one)}") == one.encode() for one in beginnings)
    return np.logical_or.reduce([*masks])


@cache
def _categories() -> np.ndarray:
    return np.array([unicodedata.category(chr(code)) for code in range(CODEPOINTS)], "S2")


@cache
def character_class(*categories: str) -> str:
    """Return the inside of a regular expression's `[...]` that matches the same characters as `of_category`."""
    inside = np.concatenate([[False], of_category(*categories), [False]])
    ranges = np.flatnonzero(inside[1:] != inside[:-1]).reshape(-1, 2)  # (ranges, first and end)
    return "".join(f"\\U{first:08x}-\\U{end - 1:08x}" for first, end in ranges.tolist())


@cache
def letters(language: str) -> np.ndarray:
    """Return the letters, and marks on letters, of a language's script, (0x110000,) bool.

    Raises InputError if the language is unknown.
    """
    if language not in LANGUAGE_SCRIPTS:
        raise InputError(
            f"languages: no script known for '{language}'{nearest(language, LANGUAGE_SCRIPTS)}; "
            "add it to SCRIPTS in weebill/corpus/cleaning/characters.py"
        )
    script = LANGUAGE_SCRIPTS[language]
    names = LETTER_NAMES.get(script, (f"{script.upper()} ",))
    table = np.zeros(CODEPOINTS, bool)
    for code in np.flatnonzero(of_category("L", "M")).tolist():
        table[code] = unicodedata.name(chr(code), "").startswith(names)
    return table


def code_points(text: str) -> np.ndarray:
    """Return the code points of a text, (characters,) uint32, as indices into the masks."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
