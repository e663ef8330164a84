"""The corpus as a stream: determinism, distinctness, noise shares, and what each noise type means."""

import re
import time
import unicodedata
from collections import Counter

import pytest

from weebill.corpus.synthetic import NOISE_TYPES, generate
from weebill.corpus.synthetic.lexicon import lexicon
from weebill.errors import InputError

ROWS, NOISE, SEED = 24_000, 0.2, 2020


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return list(generate(ROWS, SEED, NOISE))


@pytest.fixture(scope="module")
def clean(rows) -> list[dict]:
    return [row for row in rows if row["noise"] is None]


def of_type(rows: list[dict], kind: str) -> list[dict]:
    return [row for row in rows if row["noise"] == kind]


def folded(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def test_deterministic_and_seeded(rows):
    assert list(generate(ROWS, SEED, NOISE)) == rows
    other = list(generate(500, SEED + 1))
    assert other != list(generate(500, SEED))


def test_held_out_sets_share_little_with_training(clean):
    sources = {folded(row["source"]) for row in clean}
    targets = {folded(row["target"]) for row in clean}
    held_out = list(generate(500, SEED + 1))
    shared = [
        r for r in held_out if folded(r["source"]) in sources or folded(r["target"]) in targets
    ]
    assert len(shared) <= 10


def test_enough_and_distinct(clean):
    assert len(clean) >= 19_000
    assert len({folded(row["source"]) for row in clean}) >= 0.999 * len(clean)
    assert len({row["source"] for row in clean}) == len(clean)
    everything = list(generate(24_000, 1))
    assert len({row["source"] for row in everything}) == 24_000


def test_noise_shares(rows):
    counts = Counter(row["noise"] for row in rows)
    assert counts.pop(None) == ROWS * (1 - NOISE)
    assert set(counts) == set(NOISE_TYPES)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_no_noise_unless_asked():
    assert {row["noise"] for row in generate(1000, 3)} == {None}
    assert {row["noise"] for row in generate(1, 3, 1.0)} <= set(NOISE_TYPES)
    assert len(list(generate(50, 3, 1.0))) == 50
    assert list(generate(0, 3)) == []


def test_undamaged_rows_are_plain_english_and_german(clean):
    english = {word for row in clean for word in row["source"].split()}
    assert all(word.isascii() for word in english)
    allowed = set("äöüÄÖÜßé")
    for row in clean:
        assert all(c.isascii() or c in allowed for c in row["target"])


def test_misaligned_targets_are_good_german_of_another_sentence(rows, clean):
    german = {word for row in clean for word in row["target"].split()}
    damaged = of_type(rows, "misaligned")
    sources, targets = {row["source"] for row in clean}, {row["target"] for row in clean}
    words = [word for row in damaged for word in row["target"].split()]
    assert sum(word in german for word in words) > 0.98 * len(words)
    assert not any(row["source"] in sources for row in damaged)
    assert sum(row["target"] in targets for row in damaged) <= 5
    # A digit on one side only is proof; true pairs always agree.
    unequal = [
        r for r in damaged if re.findall(r"\d+", r["source"]) != re.findall(r"\d+", r["target"])
    ]
    assert unequal


def test_wrong_language_has_one_french_side(rows):
    french = set(
        ["le", "la", "les", "un", "une", "des", "mon", "ma", "mes", "ce", "cet", "cette", "ces"]
    )
    for row in of_type(rows, "wrong_language"):
        sides = [re.split(r"[ ']", row[side].lower())[0] for side in ("source", "target")]
        assert sum(first in french or first == "l" for first in sides) == 1, row


def test_copied_sides_are_equal(rows):
    assert all(row["source"] == row["target"] for row in of_type(rows, "copied"))


def test_truncated_has_one_side_without_its_end(rows):
    cut = 0
    for row in of_type(rows, "truncated"):
        lengths = {side: len(row[side].split()) for side in ("source", "target")}
        open_sides = [side for side in lengths if row[side][-1] not in ".?"]
        assert len(open_sides) == 1, row
        shorter = open_sides[0]
        other = "target" if shorter == "source" else "source"
        cut += lengths[shorter] < lengths[other]
    assert cut > 0.97 * len(of_type(rows, "truncated"))


def test_garbled_text_is_valid_but_broken(rows):
    kinds = Counter()
    for row in of_type(rows, "garbled"):
        for side in ("source", "target"):
            row[side].encode("utf-8")
        both = row["source"] + row["target"]
        if "\ufffd" in both:
            kinds["replacement"] += 1
        elif "Ã" in both:
            kinds["mojibake"] += 1
        else:
            assert any(unicodedata.name(c, "").startswith("CJK") for c in row["target"]), row
            kinds["utf-16"] += 1
    assert len(kinds) == 3


def test_near_duplicates_repeat_an_earlier_pair(rows):
    seen: dict[str, str] = {}
    texts = set()
    for row in rows:
        key = folded(row["source"])
        if row["noise"] is None:
            seen[key] = folded(row["target"])
            texts.add((row["source"], row["target"]))
        elif row["noise"] == "near_duplicate":
            assert seen[key] == folded(row["target"])
            assert (row["source"], row["target"]) not in texts


def test_no_control_characters_that_break_lines(rows):
    for row in rows:
        assert not re.search(r"[\n\r\t\x00]", row["source"] + row["target"])


def test_bad_arguments():
    with pytest.raises(InputError, match="noise"):
        generate(10, 1, 1.5)
    with pytest.raises(InputError, match="pairs"):
        generate(-1, 1)


def test_memory_does_not_hold_the_corpus():
    """A million pairs need four bytes each, whatever their length: here the bitmap of a smaller request."""
    import tracemalloc

    lexicon()
    list(generate(2000, 1))
    tracemalloc.start()
    for _ in generate(20_000, 5):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_fast_enough():
    start = time.process_time()
    for _ in generate(5000, 9, 0.2):
        pass
    assert 5000 / (time.process_time() - start) > 4000  # about 39,000 pairs/s on an idle core
