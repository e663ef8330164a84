"""Languages of codes are as in langcodes, and languages with the same writing have the same rules."""

from itertools import product
from string import ascii_lowercase

from langcodes.data_dicts import MACROLANGUAGES, NORMALIZED_MACROLANGUAGES

from weebill.corpus.language_codes import _language
from weebill_runtime.languages import primary, same_language
from weebill_runtime.normalisation import KEEPING, usual_punctuation


def test_codes_are_replaced_as_by_langcodes():
    codes = ["".join(one) for count in (2, 3) for one in product(ascii_lowercase, repeat=count)]
    known = {one: found.language for one in codes if (found := _language(one))}
    usual = {one: _of_all(language) for one, language in known.items()}
    assert [one for one, language in usual.items() if language != primary(one)] == []


def _of_all(language: str) -> str:
    """Return the macrolanguage whose usual member is `language`; otherwise, `language`."""
    return NORMALIZED_MACROLANGUAGES.get(language, language) if len(language) == 3 else language


def test_marks_of_chinese_and_japanese_stay_by_any_code():
    chinese = [
        "zh",
        "zho",
        "zho_Hans",
        "zh-TW",
        "ZH-TW",
        "cmn",
        "cmn_Hant",
        "__label__zho_Hans",
        "yue",
        "nan_Hant",
    ]
    japanese = ["ja", "jpn", "jpn_Jpan", "JA"]
    assert {usual_punctuation(one) for one in chinese + japanese} == {"keep"}


def test_marks_stay_in_all_languages_of_china():
    members = {one for one, whole in MACROLANGUAGES.items() if whole == "zh"}
    assert {primary(one) for one in members} <= {*KEEPING} and usual_punctuation("th") == "moses"


def test_script_and_region_are_left_out():
    codes = ("zh_TW", "sr-Latn", "xx_YY", "DEU", "__label__eng_Latn")
    assert [primary(one) for one in codes] == ["zh", "sr", "xx", "de", "en"]


def test_scripts_that_codes_name_must_agree():
    same = ["zh zh-TW", "zh-CN zho_Hans", "zh_HK cmn-Hant-TW", "sr sr-Latn", "pt-BR pt", "EN en_US"]
    other = ["zh-Hans zh-TW", "zh-CN zh_HK", "sr-Cyrl sr_Latn", "en de"]
    assert [pair for pair in same + other if same_language(*pair.split())] == same
