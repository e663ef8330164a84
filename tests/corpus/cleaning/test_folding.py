"""Folded text: texts that differ only in case, punctuation and form of characters become equal."""

import random
import unicodedata

import pytest

from weebill.corpus.cleaning.folding import folded


def test_equal_text_in_another_form_folds_alike():
    for first, second in (
        ("J'ai bu un café", unicodedata.normalize("NFD", "j'ai bu un CAFÉ")),
        ("ＡＢＣ系统２０２０版", "ABC系统2020版"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("كـــتاب", "كتاب"),
        ("\ufedb\ufe98\ufe8e\ufe8f", "كتاب"),
        ("١٢٣", "123"),
        ("ﬁnd", "find"),
        ("東京〜大阪、10〜20", "東京～大阪、10～20"),
        ("п'ять", "п\u02bcять"),
        ("I \u2764\ufe0f it", "I \u2764 it"),
        ("ͅΑ", unicodedata.normalize("NFC", "ͅΑ")),
    ):
        assert folded([first]) == folded([second]), first


def test_folded():
    assert folded(["It's  A-Test, STRASSE!", "its a test straße"]) == ["itsateststrasse"] * 2
    assert folded(["?!… ", "", "\u2028ǅ"]) == ["", "", "dž"]
    assert len(set(folded(["नमस्ते", "नमसत"]))) == 2  # marks belong to the word
    assert folded([]) == [] and folded(["!"]) == [""]


@pytest.mark.parametrize(
    "lines",
    [
        ("3.5 percent", "35 percent"),
        ("50 $", "50 €", "50"),
        ("2 < 3", "2 > 3", "2 + 3", "23"),
        ("in 2010, 50 of them", "in 201050 of them", "in 2010.50 of them"),
        ("1-2-3", "12-3", "1-23", "123"),
        ("٣٫٥", "٣٥"),  # other scripts have digits too
        ("٣٥", "٣٦", "३७"),
    ],
)
def test_numbers_and_symbols_tell_lines_apart(lines):
    assert len(set(folded(list(lines)))) == len(lines)


def test_folds_many_lines_as_each_alone(fold):
    dice = random.Random(3)
    parts = [
        *" .,-!…()€$+<aÄßǅＡ９ـ\u0301ｶﾞ\u00a0\u2028",
        *"1234567٣",
        ". ",
        "3.5",
        "don't",
        "नमस्ते",
        "½",
        "²",
    ]
    lines = ["".join(dice.choices(parts, k=dice.randrange(9))) for _ in range(4000)]
    assert folded(lines) == [fold(line) for line in lines]  # digits do not join across line ends
