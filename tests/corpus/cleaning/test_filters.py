"""Each filter rejects the damage in its name, exactly from its threshold on."""

import random
from itertools import pairwise

import numpy as np
import pytest

from tests.corpus.cleaning.verdicts import verdicts
from weebill.corpus.cleaning.filters import FILTERS
from weebill.corpus.cleaning.filters.numbers import numbers_in
from weebill.corpus.cleaning.pairs import Context, Pairs, measure
from weebill.corpus.cleaning.preparation import prepare
from weebill.corpus.cleaning.rules import Rules
from weebill.errors import InputError

W = "word "


def broken(text, encoding="cp1252"):
    """Decode UTF-8 with an old encoding, then prepare it as cleaning does."""
    return prepare([text.encode().decode(encoding, "replace")], "de", Rules(), None)[0]


CASES = {  # filter: (rejected pairs, pairs that just pass)
    "empty": ([("", "a"), ("a", " \u00a0"), ("", "")], [("a", "b")]),
    "identical": ([("Mister Wong", "mister wong"), ("É", "é")], [("a", "a.")]),
    "too_long": ([(W * 151, W * 100), (W * 100, W * 151)], [(W * 150, W * 150)]),
    "length_ratio": (
        [(W * 12, W * 6), (W * 6, W * 12), (W * 4, W)],
        [(W * 12, W * 9), (W * 1, W * 2), ("Yes.", "Das stimmt.")],
    ),
    "letter_tokens": (
        [
            ("a b 1 2 3 4", "x y z"),
            ("x y z", "a b 1 2 3 4"),
            ("слово слово", "Wort Wort"),
            ("(1a) ... $5 -- ¡ b", "x y z"),
        ],
        [
            ("a b 1 2 3", "ä ß 1 2 3"),
            ("«a b", "c"),
            ("Go! Now!", "¡Vete! ¡Ahora!"),
            ('"No!"', "-No. -No."),
            ("(No.)", "...nein"),
            ("12,345,678 people", "12\u00a0345\u202f678 Leute"),
        ],
    ),
    "letter_characters": (
        [("a1 b2 c345", "abc"), ("abc", "a-- b--"), ("abc", "ab木木木")],
        [("a1 b2", "a1 ß2")],
    ),
    "long_word": ([("a" * 151, "b"), ("b", "c " + "a" * 151)], [("a" * 150, "b " + "c" * 150)]),
    "numbers": (
        [("in 2019", "im Jahr 2018"), ("5 cats", "6 Katzen"), ("125 cats", "viele Katzen")],
        [
            ("1,234.5 kg in 2019", "im Jahr 2019 1.234,5 kg"),
            ("10 000 at 2:30", "10 000 um 2:30"),
            ("no", "keine"),
        ],
    ),
    "repetition": (
        [
            ("The house is big.", "Das Haus Haus Haus Haus."),
            ("He said it.", "er sagte es und er sagte es und er sagte es und er sagte es und ging"),
            ("zigzigzigzigzigzigzig", "Zickzack"),
        ],
        [("no no no", "nein nein nein"), ("No, no, no!", "Nein nein nein!")],
    ),
    "markup": (
        [
            ("<b>Press</b> the key", "Taste drücken"),
            ("a line", 'eine <a href="x.html">Zeile</a>'),
            ("a line", '<p xml:lang="de" data_id=3>eine Zeile'),
            ("<o:p>a line</o:p>", "eine Zeile"),
            ("a line <!-- of a note -->", "eine Zeile"),
            ("<b>a line</b> <é", "eine Zeile"),
            ("eine Zeile", "<b>a line</b> <é>"),
        ],
        [
            ('"Hello," he said', "<<Guten Tag>>, sagte er"),
            ("<b>Press</b> it", "<b>Drücken</b>"),
            ("needs a <file> argument", "требует аргумент <файл>"),
            ("ต้องการ <ลิงก์>", "needs <link>"),
            ("a < b and c > d", "so ist es"),
            ("I <3 it", "<3"),
        ],
    ),
    "urls": (
        [
            ("see www.example.com", "siehe www.beispiel.de"),
            ("see https://a.org/x", "siehe dort"),
            ("see https://a.org/x", "siehe https://a.org/y"),
            ("see www.a.org and www.b.org", "siehe www.a.org'da, www.c.org'da"),
            ("see www.a.org", "siehe www.a.org-gesellschaft"),
        ],
        [
            ("(see http://A.org/x).", "http://a.org/x"),
            ("www. is short", "was heißt das"),
            ("on https://example.com", "https://example.com'da"),
            ("in www.a.org and www.b.org", "www.a.org:ssa ja www.b.org:ssa"),
            ("on www.example.com", "a www.example.com-on"),
            ("on http://example.com/", "a http://example.com/-on"),
        ],
    ),
    "garbled": (
        [(broken(text), "x") for text in ("für", "Großvater", "groß", "Äpfel", "„Öl“", "“so”")]
        + [("x", broken(text, "latin-1")) for text in ("für", "groß es", "Äpfel", "Über", "é")]
        + [
            (broken(text, encoding), "x")
            for text in [
                "što",
                "będzie",
                "už",
                "ţară",
                "dağ",
                "ministrų",
                "països",
                "virtù e",
                "tiếng",
                "ənənə",
            ]
            for encoding in ("cp1252", "latin-1")
        ]
        + [("a", "b\ufffd")],
        [
            ("A IRMÃ DE NÃO", "ÂNGELA, 5 €"),
            ('"MAÇÃ"', "à là carte, naïve"),
            ("ÃO", "Maß für Äpfel"),
            ("a cell of 1500 Å³", "Æ, Ø, Å: ÆØÅ, «Å» und É."),
            ("«No está»", "«está». «Está»"),
        ],
    ),
}


def _rejected(name, pairs, rules=None, languages=("en", "de")):
    sides = tuple(list(side) for side in zip(*pairs, strict=True))
    batch = Pairs(sides, languages[: len(sides)], np.zeros(len(pairs), np.uint8))
    return FILTERS[name](batch, Context(rules or Rules())).tolist()


@pytest.mark.parametrize("name", CASES)
def test_rule(name):
    rejected, passed = CASES[name]
    assert _rejected(name, rejected) == [True] * len(rejected)
    assert _rejected(name, passed) == [False] * len(passed)


def test_a_line_of_open_comments_takes_no_longer_than_another():
    assert _rejected("markup", [("<!--" * 100_000 + ">", "<!-- <!-- -->")]) == [True]


def test_a_filter_does_not_read_lines_that_are_too_long():
    table = tuple(" ".join(map(str, range(start, start + 20_000))) for start in (0, 50_000))
    assert verdicts("de", [("a line", "eine Zeile"), table]) == [None, "too_long"]


@pytest.mark.parametrize("name", CASES)
def test_monolingual_text_is_judged_by_its_source(name):
    rejected, passed = CASES[name]
    two_sided = {"identical", "length_ratio", "numbers", "urls", "markup"}
    sources = [(source,) for source, target in rejected if target in ("abc", "x y z", "b", W * 100)]
    if sources:
        assert _rejected(name, sources) == [name not in two_sided] * len(sources)
    assert not any(_rejected(name, [(source,) for source, _ in passed]))


def test_thresholds_are_configuration():
    assert _rejected("too_long", [("a b c", "d")], Rules(max_tokens=2)) == [True]
    pair = [("a" * 85, "b" * 35)]  # 15 are added to both
    assert _rejected("length_ratio", pair, Rules(max_length_ratio=2.01)) == [False]
    assert _rejected("length_ratio", pair, Rules(max_length_ratio=1.97)) == [True]
    assert _rejected("length_ratio", pair, Rules(expected_length_ratio=0.4)) == [False]
    assert _rejected("length_ratio", [("a" * 85, "b" * 85)], Rules(expected_length_ratio=0.4)) == [
        True
    ]


def test_scripts_by_language():
    pair = [("Καλημέρα κόσμε", "Доброе утро")]
    assert _rejected("letter_tokens", pair, languages=("el", "ru")) == [False]
    assert _rejected("letter_tokens", pair, languages=("ru", "el")) == [True]
    assert _rejected("letter_characters", [("你好", "مرحبا")], languages=("zh", "ar")) == [False]
    latin, cyrillic = (
        ("Where were you?", "Gde si bio juče?"),
        ("Where were you?", "Где си био јуче?"),
    )
    for code, found in (("sr", [False, False]), ("sr-Latn", [False, True])):
        assert _rejected("letter_tokens", [latin, cyrillic], languages=("en", code)) == found
    with pytest.raises(InputError, match="no language 'xx'"):
        measure(["a"], "xx")


def test_numbers_are_compared_without_separators():
    assert numbers_in("1,234.50 then 7 and 1'000") == numbers_in("1.234,50 7 1.000")
    assert numbers_in("5.6.2010") == ["562010"]
    assert numbers_in("5 كتب و ١٬٢٣٤") == numbers_in("1٬234 books and ٥")


def test_no_text_of_digits_and_signs_is_an_error():
    draw = random.Random(1)
    signs = [
        "0",
        "7",
        "٣",
        "१",
        ".",
        ",",
        "'",
        " ",
        ":",
        "万",
        "千",
        "億",
        "一",
        "〇",
        "천",
        "만",
        "s",
        "h",
        "million",
    ]
    lines = ["".join(draw.choices(signs, k=draw.randint(1, 12))) for _ in range(8_000)]
    pairs = list(pairwise(lines))
    _rejected("numbers", [*pairs, ("9" * 5000, "8" * 5000)], languages=("en", "zh"))
    assert not any(_rejected("numbers", [(line, f"{line} ") for line in lines[:2000]]))


def test_letters_are_the_tokens_of_what_has_no_spaces():
    lines = ["我喜欢NLP 2024年。", "", "。"]
    features = measure(lines, "zh")
    assert features.tokens.tolist() == [3 + 1 + 3, 0, 1]  # 我 喜 欢 NLP 2024 年 。
    assert features.letter_tokens.tolist() == [4, 0, 0]
    assert features.longest_word.tolist() == [4, 0, 1]
    assert features.characters.tolist() == [12, 0, 1]
    pair = ("The weather is very nice today.", "今天天气非常好。")
    for rule in ("length_ratio", "long_word", "letter_tokens"):
        assert _rejected(rule, [pair], languages=("en", "zh")) == [False]


def test_features_equal_a_plain_count():
    lines = ["", " ", "a", " ab  c1 1c ", "éß  –x", "\u2003word\u00a0word", "x" * 200, "木 a"]
    features = measure(lines, "de")
    for number, line in enumerate(lines):
        tokens = line.split()
        letters = [c for c in line if c.isalpha() and c != "木"]
        words = [t.lstrip("–") for t in tokens]
        starts = [t for t in words if t[0].isalpha() and t[0] != "木"]
        assert features.tokens[number] == len(tokens)
        assert features.letter_tokens[number] == len(starts)
        assert features.letters[number] == len(letters)
        assert features.characters[number] == sum(map(len, tokens))
        assert features.longest_word[number] == max(map(len, tokens), default=0)
