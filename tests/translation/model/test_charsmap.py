"""The normalizer inside vocabularies: compared with Unicode's forms, and on cleaned text of many languages."""

import random
import re
import unicodedata

import pytest

from weebill.bleu import bleu
from weebill.text_files import read_lines
from weebill.translation.model.vocabulary import OWN, train_vocabulary
from weebill_runtime.normalisation import Normalisation, normalise
from weebill_runtime.vocabulary import Vocabulary

LETTERS = "the quick brown fox jumps over the lazy dog "


def vocabulary(path, texts, languages, size=600, punctuation=None):
    record = Normalisation.of(languages, punctuation)
    options = {"normalizer": OWN, "byte_fallback": True, "normalisation": record}
    train_vocabulary(texts, path, size, seed=1, **options)
    return Vocabulary(path)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("charsmap") / "vocab.spm"
    return vocabulary(path, [LETTERS + one for one in "aeiou"], ("en", "ko"), 285, "moses")


def through(vocabulary, text):
    return vocabulary.decode(vocabulary.encode([text]))[0]


def test_composes_as_unicode_does(small):
    dice = random.Random(1)
    marks = "\u0301\u0302\u0308\u0323\u0327\u0303"
    for _ in range(2000):
        text = "".join(
            dice.choice("aeoucsAEO") + "".join(dice.sample(marks, dice.randrange(3)))
            for _ in range(3)
        )
        if unicodedata.normalize(
            "NFC", text
        ).isalpha():  # else a mark is left over, whose order may differ
            assert through(small, text) == unicodedata.normalize("NFC", text), ascii(text)
    for text in ("한국어 값 뷁", "ガギグ", "कि", "Ω Å"):
        assert through(small, unicodedata.normalize("NFD", text)) == unicodedata.normalize(
            "NFC", text
        )


@pytest.mark.parametrize("mark", "’‘ʼʻ“”„–—«»…\u00ad\ufeff\u2011\u2060\u00a0\u200e\x07")
def test_what_people_type_becomes_what_was_learnt(small, mark):
    typed = f"fox{mark}dog jumps"
    [plain] = normalise([typed], "en")
    expected = small.encode([plain.replace("\u2011", "-").replace("\u00a0", " ")])
    assert small.encode([typed]) == expected
    assert small.encode_input([typed]) == expected


@pytest.mark.parametrize("typed", ["«_fox_»", "fox_!", "fox_; dog_: jumps_?"])
@pytest.mark.parametrize("space", ["\u2009", "\u202f"])
def test_thin_spaces_of_french_need_no_other_program(small, typed, space):
    wanted = small.encode_input([typed.replace("_", "\u00a0")])
    assert small.encode([typed.replace("_", space)]) == wanted
    assert small.encode_input([typed.replace("_", space)]) == wanted


def test_the_narrow_space_of_mongolian_script_stays(tmp_path):
    words = "ᠪᠢᠴᠢᠭ\u202fᠦᠨ ᠨᠣᠮ"
    made = vocabulary(tmp_path / "v.spm", [words] * 20, ("en", "mn-Mong"), 268)
    assert through(made, words) == words
    assert through(made, "5\u2009km") == "5 km"


def test_other_text_stays(small):
    for text in ("m² ½ ℃ ，？！（）", "น้ำ", "می\u200cخواهم", "\U0001f468\u200d\U0001f469", "x　y"):
        assert through(small, f"a {text}") == f"a {text}"


LANGUAGES = {
    **{
        "ar": "ara",
        "zh": "cmn_Hans",
        "de": "deu",
        "en": "eng",
        "fa": "fas",
        "fr": "fra",
        "hi": "hin",
    },
    **{"hr": "hrv", "ja": "jpn", "ko": "kor", "ru": "rus", "th": "tha", "tr": "tur"},
}
SIZES = {"zh": 2500, "ja": 2000, "ko": 2000}  # many characters


@pytest.mark.parametrize("language", LANGUAGES)
def test_cleaned_text_comes_back(real_text, tmp_path, language):
    lines = list(read_lines(real_text(f"flores/{LANGUAGES[language]}.devtest")))
    clean = normalise(lines, language)
    made = vocabulary(tmp_path / "v.spm", clean[::2], ("en", language), SIZES.get(language, 1500))
    back = made.decode(made.encode(clean))
    assert bleu("char").corpus_score(back, [clean]).score == pytest.approx(100, abs=0.02)
    usual = str.maketrans("\u00a0\u2009\u2011", "  -")
    assert back == [re.sub("  +", " ", line.translate(usual)) for line in clean]
