"""Categories of all code points are those of the Unicode database."""

import unicodedata

import numpy as np

from weebill_runtime.characters import CODEPOINTS, of_category


def test_every_code_point():
    categories = np.array([unicodedata.category(chr(code)) for code in range(CODEPOINTS)])
    for beginning in ("Cn", "Co", "So", "L", "M"):
        expected = np.char.startswith(categories, beginning)
        assert np.array_equal(of_category(beginning), expected), beginning
