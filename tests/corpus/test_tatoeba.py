"""The embedded sentences match NOTICE.md, and no sentence is in two parts."""

import hashlib
import lzma
import re
from collections import Counter

from weebill.corpus.tatoeba import (
    FOLDER,
    LANGUAGES,
    PAIRS,
    SENTENCES,
    pair_numbers,
    read_pairs,
    read_sentences,
)

NOTICE = (FOLDER / "NOTICE.md").read_text(encoding="utf-8")


def words(text):
    return tuple(re.findall(r"\w+(?:['’-]\w+)*", text.lower()))


def test_the_notice_tells_the_checksums():
    told = dict(re.findall(r"^\| `(\S+\.xz)` .*`(\w{64})` \|$", NOTICE, re.MULTILINE))
    held = {
        path.name: hashlib.sha256(lzma.decompress(path.read_bytes())).hexdigest()
        for path in FOLDER.glob("*.xz")
    }
    assert told == held and len(held) == 3


def test_pairs_are_distinct_short_and_of_common_words():
    pairs = read_pairs()
    assert len(pairs) == PAIRS
    order = [hashlib.sha256("\t".join(pair).encode()).hexdigest() for pair in pairs]
    assert order == sorted(order)
    for side, common in ((0, 800), (1, 1200)):
        texts = [pair[side] for pair in pairs]
        assert len({words(text) for text in texts}) == PAIRS
        assert len({word for text in texts for word in words(text)}) <= common
        assert all(text == " ".join(text.split()) for text in texts)
    assert all(3 <= len(english.split()) <= 10 for english, _ in pairs)


def test_parts_of_the_pairs_are_disjoint_and_in_order():
    pairs = read_pairs()
    assert read_pairs(3) == pairs[:3]
    assert read_pairs(5, skip=3) == pairs[3:8]
    assert read_pairs(2, skip=PAIRS - 2) == pairs[-2:]


def test_pairs_of_the_commonest_words():
    every = read_pairs()
    pairs = [[words(text) for text in pair] for pair in every]
    common = []
    for side, limit in ((0, 500), (1, 700)):
        counts = Counter(word for pair in pairs for word in pair[side])
        common.append(set(sorted(counts, key=lambda word: (-counts[word], word))[:limit]))
    expected = [
        number
        for number, (english, german) in enumerate(pairs)
        if common[0].issuperset(english) and common[1].issuperset(german)
    ]
    assert pair_numbers(500, 700) == expected
    short = [n for n in expected if max(map(len, pairs[n])) <= 7]
    assert pair_numbers(500, 700, 7) == short and 10_000 < len(short) < len(expected) < PAIRS
    chosen = [every[number] for number in short]
    assert read_pairs(5, 3, 500, 700, 7) == chosen[3:8]
    assert not read_pairs(5, len(chosen), 500, 700, 7)


def test_sentences_of_a_language_stand_once_and_in_no_pair():
    taken = {words(text) for pair in read_pairs() for text in pair}
    for language in LANGUAGES:
        learned, others = read_sentences(language), read_sentences(language, held_out=True)
        assert len(learned) + len(others) == SENTENCES
        found = {words(text) for text in [*learned, *others]}
        assert len(found) == SENTENCES and not found & taken


def test_languages_are_what_they_are_called():
    """The most frequent word of each language distinguishes it from the others."""
    for language, word in (("en", "the"), ("de", "ist"), ("fr", "est"), ("nl", "het")):
        share = {
            other: sum(word in words(text) for text in read_sentences(other)) for other in LANGUAGES
        }
        assert max(share, key=share.get) == language


def test_dutch_sentences_name_their_authors():
    with lzma.open(FOLDER / "languages.tsv.xz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    dutch = [row for row in rows if row[0] == "nl"]
    assert all(re.fullmatch(r"#\d+ \(.+\)", row[2]) for row in dutch)
    assert {len(row) for row in rows if row[0] != "nl"} == {2}
