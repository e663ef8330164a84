"""Punctuation is normalised as by sacremoses."""

import random

import pytest
import regex
from sacremoses import MosesPunctNormalizer

from weebill.corpus.cleaning.normalise import (
    folded,
    normalise_punctuation,
    remove_non_printing,
)
from weebill.text_files import read_lines

LANGUAGES = ["en", "de", "fr", "es", "cs", "ru"]
PARTS = [
    *'„“”–—´‘’‚…«»`()\r:;%.,?!"< aB1ü\u00a0',
    *("  ", "´´", "''", "23", "nº", "ºC", "cm", "don’t", "l‘eau", ',"', '."', '..."', '."x'),
    *('".', '",', "\u00a0«", "»\u00a0", "\u00a0%", ",\u00a0", "1\u00a0000"),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_equals_sacremoses_on_random_lines(language):
    dice = random.Random(1)
    oracle = MosesPunctNormalizer(language)
    lines = ["".join(dice.choices(PARTS, k=dice.randrange(12))) for _ in range(4000)]
    expected = [oracle.normalize(line) for line in lines]
    assert normalise_punctuation(lines, language) == expected  # each line is normalised alone
    for line, wanted in zip(lines, expected, strict=True):
        assert normalise_punctuation([line], language) == [wanted], ascii(line)


def test_a_line_of_dots_takes_no_longer_than_another():
    line = "." * 100_000
    assert normalise_punctuation([line, 'A."b'], "de") == [line, 'A".b']


@pytest.mark.parametrize("name", ["onmt_wmt10k_detok", "wmt18pcf_EMEA", "wmt18pcf_KDE4"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_equals_sacremoses_on_real_text(real_text, name, language):
    oracle = MosesPunctNormalizer(language)
    lines = list(read_lines(real_text(f"train/{name}.{language}")))[:1500]
    expected = [oracle.normalize(line) for line in lines]
    assert normalise_punctuation(lines, language) == expected


def test_non_printing_characters():
    assert remove_non_printing("a\x07b\x85c\u2028d\ue000e") == "a b c d e"
    assert remove_non_printing("\ufeffWort\u00adtrennung\u200b") == "Worttrennung"
    assert remove_non_printing("für 5 € – 木\u00a0x") == "für 5 € – 木\u00a0x"


def test_non_printing_follows_unicode():
    for code in range(0x3000):
        character = chr(code)
        expected = regex.sub(
            r"[\p{Cc}\p{Co}\p{Zl}\p{Zp}]", " ", regex.sub(r"\p{Cf}", "", character)
        )
        if not regex.match(r"\p{Cn}", character):
            assert remove_non_printing(character) == expected, hex(code)


def test_folded():
    assert folded(["It's  A-Test, STRASSE!", "its a test straße"]) == ["itsateststrasse"] * 2
    assert folded(["?!… ", "", "\u2028ǅ"]) == ["", "", "ǆ"]
    assert len(set(folded(["नमस्ते", "नमसत"]))) == 2  # marks are part of the word
    assert folded([]) == [] and folded(["!"]) == [""]


@pytest.mark.parametrize(
    "lines",
    [
        ("3.5 percent", "35 percent"),
        ("50 $", "50 €", "50"),
        ("2 < 3", "2 > 3", "2 + 3", "23"),
        ("in 2010, 50 of them", "in 201050 of them", "in 2010.50 of them"),
        ("1-2-3", "12-3", "1-23", "123"),
        ("٣٫٥", "٣٥"),  # other scripts write digits too
    ],
)
def test_numbers_and_symbols_tell_lines_apart(lines):
    assert len(set(folded(list(lines)))) == len(lines)


def test_folds_many_lines_as_each_alone(fold):
    dice = random.Random(3)
    parts = [*" .,-!…()€$+<aÄßǅ\u00a0\u2028", *"1234567٣", ". ", "3.5", "don't", "नमस्ते", "½", "²"]
    lines = ["".join(dice.choices(parts, k=dice.randrange(9))) for _ in range(4000)]
    assert folded(lines) == [fold(line) for line in lines]  # digits do not join across line ends
