"""Repetition is the same for one line as for many lines at once."""

import random

import pytest

from weebill.corpus.cleaning.pairs import measure
from weebill.corpus.cleaning.repetition import stutters

LINES = {
    "Das Haus Haus Haus Haus.": 4,
    "no, no, no": 3,
    "er kam und ging, er kam und ging, er kam und ging": 3,
    "1 1 1 1 1": 1,
    "ho ho": 2,
    "哈哈哈哈": 2,
    "とてもとてもとてもとても良い": 4,
    "": 1,
}


@pytest.mark.parametrize("line", LINES)
def test_number_of_repeats(line):
    times = LINES[line]
    assert not stutters(line, times)
    assert times == 1 or stutters(line, times - 1)


def test_many_lines_at_once():
    draw = random.Random(1)
    lines = [" ".join(draw.choices("ab", k=draw.randint(0, 30))) for _ in range(2000)]
    repeats = measure(lines, "en").repeats
    for most in (2, 3, 5):
        assert (repeats > most).tolist() == [stutters(line, most) for line in lines]
    letters = ["".join(draw.choices("木水", k=draw.randint(0, 30))) for _ in range(2000)]
    repeats = measure(letters, "zh").repeats
    assert (repeats > 3).tolist() == [stutters(line, 3) for line in letters]


@pytest.mark.parametrize(
    ("language", "line", "most"),
    [
        ("zh", "房子，房子，房子，房子，房子，房子，房子，很大。", 3),
        ("ja", "大きい家、" * 5, 3),
        ("bo", "ཁང་པ་" * 8, 3),
        ("de", "Das Haus - Haus - Haus - Haus - Haus - Haus", 3),
        ("de", "„Haus“ „Haus“ „Haus“ „Haus“ „Haus“", 3),
        ("de", "10, 10, 10, 10, 10 - 10 - 10", 10),
        ("am", "ቤት ፡" * 6, 3),
        ("am", "ቤት ፡ " * 6, 3),
        ("km", "ផ្ទះធំ\u200b" * 8, 3),
        ("hi", "घर, " * 6, 3),
    ],
)
def test_punctuation_between_repeats_does_not_count(language, line, most):
    assert stutters(line, 3) == (measure([line], language).repeats[0] > 3) == (most == 3)


def test_parts_of_a_word():
    assert stutters("zigzigzigzigzigzigzig", 3)
    assert not stutters("zigzigzigzigzigzigzig", 7)
    assert stutters("वह " + "सोमवार" * 5, 3) and stutters("யின்" * 6, 3)  # with vowel signs
    assert not stutters("प्रतियोगितापरीक्षाओंकेलिए", 3)
    assert not stutters("Donaudampfschifffahrtsgesellschaft", 1)
