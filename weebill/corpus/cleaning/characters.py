"""Classes of characters from the Unicode database: by general category, and letters by script."""

import unicodedata
from functools import cache

import numpy as np

from weebill.corpus.language_codes import check_language, unicode_scripts

CODEPOINTS = 0x110000


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
    """Return the letters, and marks on letters, of a language's scripts, (0x110000,) bool.

    Raises InputError if the language, or its script, is unknown.
    """
    import regex

    check_language(language)
    # A character may belong to several scripts (its Script_Extensions), such as the accents of Latin and Cyrillic.
    scripts = "".join(rf"\p{{scx={script}}}" for script in unicode_scripts(language))
    everything = np.arange(CODEPOINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    table = np.zeros(CODEPOINTS, bool)
    for found in regex.finditer(rf"[{scripts}]+|[\p{{Lm}}&&\p{{scx=Zyyy}}]+", everything, regex.V1):
        table[found.start() : found.end()] = True
    return table & of_category("L", "M")


def code_points(text: str) -> np.ndarray:
    """Return the code points of a text, (characters,) uint32, as indices into the masks."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
