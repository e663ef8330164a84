"""Classes of characters from the Unicode database, by general category."""

import unicodedata
from functools import cache

import numpy as np

CODEPOINTS = 0x110000


@cache
def of_category(*beginnings: str) -> np.ndarray:
    """Return the characters, (0x110000,) bool, whose category begins with an argument, such as "P" or "Cc"."""
    masks = (_categories().astype(f"S{len(one)}") == one.encode() for one in beginnings)
    return np.logical_or.reduce([*masks])


@cache
def _categories() -> np.ndarray:
    """Return the categories, (0x110000,) of two bytes; a million code points without characters are not looked up."""
    table = np.full(CODEPOINTS, b"Cn", "S2")
    for first, end in ((0, 0x40000), (0xE0000, 0xE1000)):  # planes 0 to 3, and 14
        table[first:end] = [unicodedata.category(chr(code)) for code in range(first, end)]
    table[0xF0000:0xFFFFE] = table[0x100000:0x10FFFE] = b"Co"  # private use
    return table


@cache
def character_class(*categories: str) -> str:
    """Return the inside of a regular expression's `[...]` that matches the same characters as `of_category`."""
    inside = np.concatenate([[False], of_category(*categories), [False]])
    ranges = np.flatnonzero(inside[1:] != inside[:-1]).reshape(-1, 2)  # (ranges, first and end)
    return "".join(f"\\U{first:08x}-\\U{end - 1:08x}" for first, end in ranges.tolist())


def code_points(text: str) -> np.ndarray:
    """Return the code points of a text, (characters,) uint32, as indices into the masks."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
