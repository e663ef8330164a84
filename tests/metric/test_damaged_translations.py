"""Damage to translations: only the intended words change, and equal seeds give equal damage."""

import re
from collections import Counter

import numpy as np
import pytest

from weebill.metric.damaged_translations import DAMAGES, Segment, damaged

SEGMENTS = [
    Segment("Anna pays 1,250 euros in 2021.", "Heute zahlt Anna 1,250 Euro.", "Anna zahlt 1,250 Euro."),
    Segment("Peter saw Anna.", "Gestern sah Peter Anna.", "Peter hat Anna gesehen."),
    Segment("In Paris it rains.", "Paris: es regnet.", "In Paris regnet es."),
    Segment("Room 7", "Zimmer 7", "Raum 7"),
    Segment("He owes 30 coins.", "Er schuldet 30 Taler.", "Er schuldet dreißig Taler."),
]  # fmt: skip


def test_only_shared_numbers_change_by_one_digit():
    """30 is spelled out in the reference, and 2021 is missing in the translation."""
    seen = Counter()
    for seed in range(60):
        found = damaged(SEGMENTS, 10, seed)["number"]
        assert list(found) == [0, 3]
        for row, text in found.items():
            before = SEGMENTS[row].translation
            (at,) = (i for i, pair in enumerate(zip(before, text, strict=True)) if len({*pair}) > 1)
            assert before[at].isdigit() and text[at].isdigit()
            assert not re.search(r"(?<![\d,])0", text)
            seen[row, at] += 1
    assert len(seen) == 4 + 1  # some seed changes each digit


def test_names_are_replaced_by_other_names_of_the_set():
    """Paris begins its translation, so it does not count as a name, and does not replace other names."""
    segments = [*SEGMENTS, Segment("With NATO, Maria.", "Mit der NATO, Maria.", "Mit NATO, Maria.")]
    replaced = set()
    for seed in range(40):
        found = damaged(segments, 10, seed)["name"]
        assert list(found) == [0, 1, 5]
        for row, text in found.items():
            words = [set(re.findall(r"\w+", one)) for one in (segments[row].translation, text)]
            (gone,), (new,) = words[0] - words[1], words[1] - words[0]
            assert new not in segments[row].source
            replaced.add((gone, new))
    names = {"Anna", "Peter", "NATO", "Maria"}
    assert {gone for gone, _ in replaced} == {new for _, new in replaced} == names


@pytest.mark.parametrize(
    ("source", "others"),
    [
        ("1985年NATO和Anna在这里。", "NATO与Maria"),
        ("1985년에 NATO는 Anna와 왔다.", "NATO는 Maria와"),
    ],
)
def test_letters_without_spaces_touch_numbers_and_names(source, others):
    segments = [
        Segment(source, "In 1985, Anna and NATO came.", "NATO and Anna came in 1985."),
        Segment("Anna came in 1985.", source, source),
        Segment(others, "With Maria, NATO.", "With Maria, NATO."),
    ]
    found = damaged(segments, 9, 1)
    assert list(found["number"]) == [0, 1] and list(found["name"]) == [0, 1, 2]


def test_a_word_is_left_out_of_long_translations():
    long = Segment("a", "eins zwei drei vier fünf", "b")
    found = {damaged([long, SEGMENTS[3]], 9, seed)["word"][0] for seed in range(40)}
    words = long.translation.split()
    assert found == {" ".join(words[:i] + words[i + 1 :]) for i in range(1, 5)}


@pytest.mark.parametrize("most", [1, 3])
def test_at_most_so_many_are_drawn_and_each_by_the_seed(most):
    segments = [Segment(f"{n} a b c d", f"{n} a b c d e", f"{n} a") for n in range(10, 60)]
    drawn = [damaged(segments, most, seed) for seed in (1, 1, 2)]
    for kind in ("number", "word"):
        one, same, other = (each[kind] for each in drawn)
        assert len(one) == most
        assert list(one.items()) == list(same.items())
        assert list(one.values()) != list(other.values())
        assert (np.diff(list(one)) > 0).all()


def test_what_no_segment_allows_is_left_out():
    assert damaged([Segment("日本", "Japan", "Japan")], 5, 1) == {}
    assert list(DAMAGES) == ["number", "name", "word"]
