"""Stand-in sentences: real ones in English and German, and a readable cipher in other languages' scripts."""

import unicodedata

import pytest

from weebill.corpus.tatoeba import PAIRS, read_pairs
from weebill.rehearsal.sentences import pairs


def test_english_and_german_are_the_embedded_pairs():
    assert pairs(("en", "de"), 30, 5) == read_pairs(5, 30)
    assert pairs(("de", "en"), 30, 1) == [read_pairs(1, 30)[0][::-1]]


def test_after_the_last_pair_comes_the_first():
    assert pairs(("en", "de"), PAIRS - 1, 2) == [read_pairs(1, PAIRS - 1)[0], read_pairs(1)[0]]


@pytest.mark.parametrize(
    ("language", "script"),
    [("ru", "CYRILLIC"), ("ar", "ARABIC"), ("ja", "HIRAGANA"), ("zh", "CJK"), ("hi", "DEVANAGARI")],
)
def test_another_language_has_letters_of_its_script(language, script):
    for _, text in pairs(("en", language), 0, 50):
        letters = [one for one in text if one.isalpha()]
        assert letters
        # Some code points of a script's block are signs, not letters.
        assert all(unicodedata.name(one, script).startswith(script) for one in letters)


@pytest.mark.parametrize("language", ["fr", "is", "xh"])
def test_words_keep_their_places_and_stay_different(language):
    english, other = zip(*pairs(("en", language), 0, 200), strict=True)
    assert [len(text.split()) for text in english] == [len(text.split()) for text in other]
    words = {}
    for one, two in zip(" ".join(english).split(), " ".join(other).split(), strict=True):
        assert words.setdefault(one, two) == two
    assert len(set(words.values())) == len(words)
    assert english != other


def test_languages_of_one_script_differ():
    assert pairs(("fr", "cs"), 0, 5)[0][0] != pairs(("fr", "cs"), 0, 5)[0][1]
