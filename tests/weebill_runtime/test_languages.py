"""Languages of codes are those that langcodes finds."""

from itertools import product
from string import ascii_lowercase

from weebill.corpus.language_codes import _language
from weebill_runtime.languages import primary


def test_codes_are_replaced_as_by_langcodes():
    codes = ["".join(one) for count in (2, 3) for one in product(ascii_lowercase, repeat=count)]
    wrong = [one for one in codes if (found := _language(one)) and found.language != primary(one)]
    assert not wrong


def test_script_and_region_are_left_out():
    codes = ("zh_TW", "sr-Latn", "xx_YY", "DEU", "__label__eng_Latn")
    assert [primary(one) for one in codes] == ["zh", "sr", "xx", "de", "en"]
