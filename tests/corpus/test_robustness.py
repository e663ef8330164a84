"""Case, typos and placeholders: the allowed changes of each."""

import random
import re

import pytest

from weebill.corpus.robustness import (
    QWERTY,
    misspelt,
    neighbouring_keys,
    title_case,
    upper_case,
    with_placeholder,
)


def test_case():
    assert upper_case("Straße ist ı", "de") == "STRASSE IST I"
    assert upper_case("ilk ısı", "tr") == "İLK ISI"
    assert upper_case("Οι καφέδες, προϊόν ὁδός", "el") == "ΟΙ ΚΑΦΕΔΕΣ, ΠΡΟΪΟΝ ΟΔΟΣ"
    assert upper_case("italian ışıq", "crh") == "İTALİAN IŞIQ"
    assert title_case("ijs (ijzer) in huis", "nl") == "IJs (IJzer) In Huis"
    assert title_case("ǆep ijs", "hr") == "ǅep Ijs"
    assert title_case("don't (go) to „haus“ 3 mal", "de") == "Don't (Go) To „Haus“ 3 Mal"


def edits(one, other):
    """Return the Damerau-Levenshtein distance of two words."""
    table = {}
    for i in range(len(one) + 1):
        for j in range(len(other) + 1):
            if not i or not j:
                table[i, j] = i + j
                continue
            same = one[i - 1] == other[j - 1]
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (not same)
            )
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


def test_a_typo_is_one_edit_of_a_word_of_letters():
    keys = neighbouring_keys(QWERTY)
    text = " ".join(["Children", "see", "a", "42", "of", "those", "(houses)"] * 6)
    ways = set()
    for seed in range(200):
        found = misspelt(text, keys, random.Random(seed)).split(" ")
        changed = [
            (old, new) for old, new in zip(text.split(" "), found, strict=True) if old != new
        ]
        assert len(changed) == 4  # a tenth of 42 words
        for old, new in changed:
            assert old not in ("a", "42", "of")
            assert edits(old, new) == 1
            ways.add((len(new) - len(old), sorted(old) == sorted(new)))
    assert ways == {(-1, False), (1, False), (0, True), (0, False)}
    assert misspelt("a 42", keys, random.Random(1)) == "a 42"


def test_keys_of_a_keyboard():
    keys = neighbouring_keys(QWERTY)
    assert sorted(keys["g"]) == sorted("fhtyvb")
    assert sorted(keys["q"]) == sorted("wa")
    assert sorted(keys["m"]) == sorted("njk")


def test_placeholders_stand_where_a_shared_name_stood():
    kinds = set()
    for seed in range(300):
        draw = random.Random(seed)
        source, target = with_placeholder(("He met Anna, in Rome.", "In Rom traf er Anna."), draw)
        token = source.removeprefix("He met ").removesuffix(", in Rome.")
        assert target == f"In Rom traf er {token}."
        kinds.add("{" if token[0] == "{" else "@" if "@" in token else token[:5] == "https")
    assert kinds == {"{", "@", True, False}
    places = set()
    for seed in range(20):
        source, target = with_placeholder(("we go", "wir gehen"), random.Random(seed))
        assert source.replace("we go", "") == target.replace("wir gehen", "")
        places.add(source.startswith("we go "))
    assert places == {True, False}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("He saw IBM yesterday", "彼は昨日IBMを見た"),
        ("The 2024 plan", "2024年计划"),
        ("彼は昨日 IBM を見た。", "เขาเห็น IBM เมื่อวาน"),
    ],
)
def test_placeholders_stand_in_scripts_without_spaces_too(source, target):
    """All text but the shared name stays, including spaces."""
    name = next(one for one in ("IBM", "2024") if one in source)
    for seed in range(10):
        found = with_placeholder((source, target), random.Random(seed))
        [token] = re.findall(re.escape(source).replace(name, "(.+)"), found[0])
        assert found == (source.replace(name, token), target.replace(name, token))


def test_placeholders_at_the_ends_of_text_without_spaces():
    for seed in range(10):
        source, target = with_placeholder(("We go", "我们走了"), random.Random(seed))
        token = source.removeprefix("We go ").removesuffix(" We go")
        assert target in (f"{token}我们走了", f"我们走了{token}")
