"""Letters of a language's scripts."""

from functools import cache

import numpy as np

from weebill.corpus.language_codes import check_language, unicode_scripts
from weebill_runtime.characters import CODEPOINTS, of_category


@cache
def letters(language: str) -> np.ndarray:
    """Return the letters, and marks on letters, of a language's scripts, (0x110000,) bool.

    Raises InputError if the language, or its script, is unknown.
    """
    check_language(language)
    common = _matched(r"[\p{Lm}&&\p{scx=Zyyy}]+")
    return letters_of(unicode_scripts(language)) | common & of_category("L", "M")


@cache
def letters_of(scripts: tuple[str, ...]) -> np.ndarray:
    """Return the letters, and marks on letters, of scripts by their names in Unicode, (0x110000,) bool."""
    # A character may belong to several scripts (its Script_Extensions), such as the accents of Latin and Cyrillic.
    names = "".join(rf"\p{{scx={script}}}" for script in scripts)
    return (
        _matched(f"[{names}]+") & of_category("L", "M") if scripts else np.zeros(CODEPOINTS, bool)
    )


@cache
def _matched(pattern: str) -> np.ndarray:
    import regex

    everything = np.arange(CODEPOINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    table = np.zeros(CODEPOINTS, bool)
    for found in regex.finditer(pattern, everything, regex.V1):
        table[found.start() : found.end()] = True
    return table
