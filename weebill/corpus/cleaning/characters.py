"""Classes of characters from the Unicode database: by general category, and letters by script."""

import unicodedata
from functools import cache

import numpy as np

from weebill.errors import InputError, nearest

CODEPOINTS = 0x110000

# Letters of a script: their Unicode names begin with one of these words.
SCRIPT_NAMES = {
    "Arabic": ("ARABIC ",),
    "Armenian": ("ARMENIAN ",),
    "Bengali": ("BENGALI ",),
    "Cyrillic": ("CYRILLIC ",),
    "Devanagari": ("DEVANAGARI ",),
    "Georgian": ("GEORGIAN ",),
    "Greek": ("GREEK ",),
    "Gujarati": ("GUJARATI ",),
    "Han": ("CJK ", "IDEOGRAPHIC "),
    "Hangul": ("HANGUL ",),
    "Hebrew": ("HEBREW ",),
    "Japanese": ("CJK ", "IDEOGRAPHIC ", "HIRAGANA ", "KATAKANA "),
    "Khmer": ("KHMER ",),
    "Latin": ("LATIN ", "MODIFIER LETTER ", "FEMININE ORDINAL", "MASCULINE ORDINAL"),
    "Tamil": ("TAMIL ",),
    "Telugu": ("TELUGU ",),
    "Thai": ("THAI ",),
}
CASED_SCRIPTS = ("Armenian", "Cyrillic", "Greek", "Latin")

# Scripts of the languages (ISO 639-1) that are not written in Latin letters.
LANGUAGE_SCRIPTS = {
    **dict.fromkeys(("ar", "fa", "ur", "ps", "ug"), "Arabic"),
    **dict.fromkeys(("be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "tt", "uk"), "Cyrillic"),
    **dict.fromkeys(("hi", "mr", "ne"), "Devanagari"),
    **dict.fromkeys(("he", "yi"), "Hebrew"),
    "bn": "Bengali",
    "el": "Greek",
    "gu": "Gujarati",
    "hy": "Armenian",
    "ja": "Japanese",
    "ka": "Georgian",
    "km": "Khmer",
    "ko": "Hangul",
    "ta": "Tamil",
    "te": "Telugu",
    "th": "Thai",
    "zh": "Han",
}
_LATIN = """af az bs ca cs cy da de en eo es et eu fi fr ga gl ha hr ht hu id ig is it la lb lt lv
mg mi ms mt nb nl nn no oc pl pt ro rw sk sl sn so sq st su sv sw tl tn tr uz vi wo xh yo zu"""
LANGUAGE_SCRIPTS |= dict.fromkeys(_LATIN.split(), "Latin")


@cache
def of_category(*beginnings: str) -> np.ndarray:
    """Return the mask of characters whose Unicode general category begins with one of the arguments ("P", "Cc").

    Returns (0x110000,) bool, by code point.
    """
    found = np.zeros(CODEPOINTS, bool)
    for beginning in beginnings:
        found |= _categories().astype(f"S{len(beginning)}") == beginning.encode()
    return found


@cache
def _categories() -> np.ndarray:
    return np.array([unicodedata.category(chr(code)) for code in range(CODEPOINTS)], "S2")


@cache
def character_class(*categories: str) -> str:
    """Return the inside of a regular expression's `[...]` that matches the characters of some categories.

    categories: beginnings of Unicode general categories, such as "P" or "Cc".
    """
    inside = np.concatenate([[False], of_category(*categories), [False]])
    ranges = np.flatnonzero(inside[1:] != inside[:-1]).reshape(-1, 2)  # (ranges, first and end)
    return "".join(f"\\U{first:08x}-\\U{end - 1:08x}" for first, end in ranges.tolist())


@cache
def letters(language: str) -> np.ndarray:
    """Return the mask of letters, and marks on letters, of a language's script.

    Returns (0x110000,) bool, by code point.  Raises InputError if the language is unknown.
    """
    if language not in LANGUAGE_SCRIPTS:
        raise InputError(
            f"languages: no script known for '{language}'{nearest(language, LANGUAGE_SCRIPTS)}; "
            "add it to LANGUAGE_SCRIPTS in weebill/corpus/cleaning/characters.py"
        )
    names = SCRIPT_NAMES[LANGUAGE_SCRIPTS[language]]
    table = np.zeros(CODEPOINTS, bool)
    for code in np.flatnonzero(of_category("L", "M")).tolist():
        table[code] = unicodedata.name(chr(code), "").startswith(names)
    return table


def code_points(text: str) -> np.ndarray:
    """Return the code points of a text, (characters,) uint32, as indices into the masks."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
