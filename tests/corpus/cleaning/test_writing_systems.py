"""Words of any script by its characters, compared with the Unicode tables and clusters of the library `regex`."""

import numpy as np
import pytest
import regex

from weebill.corpus.cleaning.writing_systems import divisions, tokens, unspaced_bits, words
from weebill_runtime.characters import code_points
from weebill_runtime.unspaced import is_unspaced

SCRIPTS = ["Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Tai_Le",
           "New_Tai_Lue", "Tai_Tham", "Balinese", "Javanese", "Yi"]  # fmt: skip
LINES = {
    "हिन्दी में लिखा है": ["हिन्दी", "में", "लिखा", "है"],
    "오늘은 날씨가 좋네요.": ["오늘은", "날씨가", "좋네요"],
    "委员会将于下周发布。": [*"委员会将于下周发布"],
    "私はNLPを2024年に学ぶ": ["私", "は", "NLP", "を", "2024", "年", "に", "学", "ぶ"],
    "ที่อยู่": ["ที่", "อ", "ยู่"],
    "ភាសាខ្មែរ": ["ភា", "សា", "ខ្មែ", "រ"],
    "မြန်မာ": ["မြ", "န်", "မာ"],
    "He doesn't say “naïve”": ["He", "doesn", "t", "say", "naïve"],
    "می\u200cخواهم بروم": ["می\u200cخواهم", "بروم"],
    "cafe\u0301 a_b": ["cafe\u0301", "a_b"],
    "": [],
}


@pytest.mark.parametrize("line", LINES)
def test_words(line):
    assert words(line) == LINES[line]
    assert "".join(tokens(line)) == "".join(line.split())


def test_marks_stay_with_their_letter_as_in_unicodes_clusters():
    for line in (
        "ที่อยู่ของฉันอยู่ในกรุงเทพฯ",
        "ນະຄອນຫຼວງວຽງຈັນ",
        "བོད་སྐད།",
        "がぎぐ".encode().decode(),
        "か\u3099き",
    ):
        assert tokens(line) == regex.findall(r"\X", line)


def test_letters_of_scripts_without_spaces():
    script, extended = (
        regex.compile("[" + "".join(rf"\p{{{key}={name}}}" for name in SCRIPTS) + "]", regex.V1)
        for key in ("sc", "scx")
    )
    codes = (*range(0xD800), *range(0xE000, 0x10000), *range(0x1B000, 0x1B170), 0x20000, 0x30000)
    for letter in filter(regex.compile(r"[\p{L}\p{Mc}]").match, map(chr, codes)):
        if is_unspaced(letter):
            assert extended.match(letter), letter
        else:
            assert not script.match(letter), letter


@pytest.mark.parametrize("line", LINES)
def test_division_of_many_characters_equals_the_pattern(line):
    found = divisions(unspaced_bits()[code_points(line)]) if line else np.zeros(0, bool)
    places = np.flatnonzero(found) + 1
    pieces = [line[a:b] for a, b in zip([0, *places], [*places, len(line)], strict=True)]
    letters = [one for one in tokens(line) if is_unspaced(one[0])]
    assert [one for one in pieces if one and is_unspaced(one[0])] == letters
