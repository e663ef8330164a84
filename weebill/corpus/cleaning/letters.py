"""Letters of a language's scripts."""

from functools import cache

import numpy as np

from weebill.corpus.cleaning.characters import CODEPOINTS, of_category
from weebill.corpus.language_codes import check_language, unicode_scripts


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
