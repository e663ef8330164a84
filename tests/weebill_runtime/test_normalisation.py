"""Punctuation is normalised as in sacremoses; spelling and emoji keep their invisible marks."""

import random
import unicodedata

import pytest
import regex
from sacremoses import MosesPunctNormalizer

from weebill.text_files import read_lines
from weebill_runtime.normalisation import normalise, normalise_punctuation, remove_non_printing

LANGUAGES = ["en", "de", "fr", "es", "cs", "ru"]
PARTS = [
    *'„“”–—´‘’‚…«»`()\r:;%.,?!"< aB1ü\u00a0',
    *("  ", "´´", "''", "23", "nº", "ºC", "cm", "don’t", "l‘eau", ',"', '."', '..."', '."x'),
    *('".', '",', "\u00a0«", "»\u00a0", "\u00a0%", ",\u00a0", "1\u00a0000"),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_equals_sacremoses_on_random_lines(language):
    dice = random.Random(1)
    oracle = MosesPunctNormalizer(language, norm_numbers=False)
    lines = ["".join(dice.choices(PARTS, k=dice.randrange(12))) for _ in range(2000)]
    expected = [oracle.normalize(line) for line in lines]
    assert normalise_punctuation(lines, language) == expected  # line by line
    for line, wanted in zip(lines, expected, strict=True):
        assert normalise_punctuation([line], language) == [wanted], ascii(line)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_stays_the_same_number(language):
    """Moses' defaults give 1,234 or 1.234, which is another number in half of the languages."""
    for number in ("1\u00a0234", "12\u00a0345\u00a0678,5", "1\u202f234"):
        assert normalise([f"5 {number} x"], language) == [f"5 {number} x"]


@pytest.mark.parametrize("language", ["fr", "en"])
@pytest.mark.parametrize("space", ["\u2009", "\u202f"])
def test_thin_spaces_at_french_marks_are_no_break_spaces(language, space):
    typed = "Il dit_: «_Quoi_?_» Oui_! 5_%_; 1_234_€."
    thin, usual = (normalise([typed.replace("_", one)], language) for one in (space, "\u00a0"))
    assert usual == ['Il dit: "Quoi?" Oui! 5%; 1\u00a0234\u00a0€.']
    assert [line.replace(space, "\u00a0") for line in thin] == usual  # in numbers they stay


def test_all_apostrophes_are_one():
    for text, language in (("п’ять сімʼя п'є", "uk"), ("oʻzbek gʼoza o‘zbek o’zi", "uz")):
        assert set(normalise([text], language)[0]) & set("ʼʻ’‘'") == {"'"}


def test_brackets_touch_words_in_korean():
    text = "링의 대표(Jamie Siminoff)는 “네”라고 말했다…"
    assert normalise([f" {text}  "], "ko") == normalise([text], "kor_Hang") == [text]


def test_a_line_of_dots_takes_no_longer_than_another():
    line = "." * 100_000
    assert normalise_punctuation([line, 'A."b'], "de") == [line, 'A".b']


@pytest.mark.parametrize("name", ["onmt_wmt10k_detok", "wmt18pcf_EMEA", "wmt18pcf_KDE4"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_equals_sacremoses_on_real_text(real_text, name, language):
    oracle = MosesPunctNormalizer(language, norm_numbers=False)
    lines = list(read_lines(real_text(f"train/{name}.{language}")))[:700]
    expected = [oracle.normalize(line) for line in lines]
    assert normalise_punctuation(lines, language) == expected


def test_non_printing_characters():
    assert remove_non_printing("a\x07b\x85c\u2028d\ue000e") == "a b c d e"
    assert remove_non_printing("\ufeffWort\u00adtrennung\u200b") == "Worttrennung"
    assert remove_non_printing("für 5 € – 木\u00a0x") == "für 5 € – 木\u00a0x"


def test_non_printing_follows_unicode():
    for code in range(0x3000):
        character = chr(code)
        invisible = regex.sub(r"(?!\p{Prepended_Concatenation_Mark})\p{Cf}", "", character)
        expected = regex.sub(r"[\p{Cc}\p{Co}\p{Zl}\p{Zp}]", " ", invisible)
        if not regex.match(r"\p{Cn}", character):
            assert remove_non_printing(character) == expected, hex(code)


SPELLING = {
    "fa": "می\u200cخواهم به خانه بروم",
    "ur": "یہ کتاب بہت اچھی ہے، لکھ\u200cنا",
    "ckb": "ئه\u200cمه\u200c كتێبه",
    "hi": "क्\u200dष और क्\u200cष",
    "mr": "महाराष्ट्रातील दर\u200dयाने",
    "bn": "র\u200d্যাম",
    "si": "ශ්\u200dරී ලංකාව",
    "ml": "അവന്\u200d",
    "km": "ខ្ញុំ\u200bចង់\u200bទៅ\u200bផ្ទះ",
    "lo": "ຂ້ອຍ\u200bຢາກ\u200bກັບ",
    "th": "ฉัน\u200bอยาก\u200bกลับ",
    "my": "ကျွန်ုပ်\u200bသွား\u200bချင်",
    "de": "Familie \U0001f468\u200d\U0001f469\u200d\U0001f467, ❤\ufe0f\u200d\U0001f525, "
    "\U0001f469\U0001f3fd\u200d\U0001f680, \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "ar": "قال تعالى \u06dd ثم",
}


@pytest.mark.parametrize("language", SPELLING)
def test_marks_that_spell_a_word_or_an_emoji_stay(language):
    text = SPELLING[language]
    assert normalise([text], language) == [text]
    between = " ".join(["a\u200db\u200cc\u200bd", text, "\U000e0067x"])
    assert normalise([between], language) == [f"abcd {text} x"]


def test_one_of_several_marks_stays():
    lines = ["می\u200c\u200cخواهم", "می\u00ad\u200cخواهم"]
    assert normalise(lines, "fa") == ["می\u200cخواهم"] * 2
    assert normalise(["ខ្ញុំ\u200b\u200bចង់"], "km") == ["ខ្ញុំ\u200bចង់"]


@pytest.mark.parametrize(
    "mark", "\u00ad\ufeff\u2060\u200e\u200f\u202a\u2069\u061c\u200b\u200c\u200d"
)
def test_other_invisible_marks_go(mark):
    assert normalise([f"{mark}Wort{mark}trennung{mark}"], "de") == ["Worttrennung"]
    if mark not in "\u200b\u200c\u200d":
        assert normalise([f"کتاب{mark}ها"], "fa") == ["کتابها"]


def test_punctuation_is_kept_where_it_is_usual_or_by_key():
    assert normalise(["他说：“你好……”——她 （笑）"], "zh_CN") == ["他说：“你好……”——她 （笑）"]
    assert normalise(["「そう」…　か"], "ja") == ["「そう」…　か"]
    assert normalise(["“It’s” 3–4 …"], "en") == ['"It\'s" 3-4 ...']
    assert normalise([" “It’s”  3–4"], "en", "keep") == ["“It’s” 3–4"]
    assert normalise(["“你好”"], "zh", "moses") == ['"你好"']


def test_letters_are_composed_and_of_usual_width():
    for language, text in (("fr", "déjà"), ("vi", "Tiếng Việt"), ("ko", "한국어"), ("ja", "がぎ")):
        assert normalise([unicodedata.normalize("NFD", text)], language) == [text]
    assert normalise(["ＡＢＣ２０２０、ｶﾞｷﾞ｡！"], "ja") == ["ABC2020、ガギ。！"]
    assert normalise(["\ufee3\ufeae\ufea3\ufe92\ufe8e"], "ar") == ["مرحبا"]
    for text in ("10 m², ½ ℃ ﷺ", "IU\u0387 h", "5 \u212b"):
        assert normalise([text], "de") == [text]
    assert normalise(["\u0958"], "hi") == ["\u0915\u093c"]


def test_a_region_changes_no_rule():
    text = 'Er sagte "nein," und ging.'
    assert normalise([text], "de-AT") == normalise([text], "de") != normalise([text], "fi")
