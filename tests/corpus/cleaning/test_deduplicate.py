"""Repeated pairs are the same as a set of strings finds, for any number of buckets."""

import random
import tracemalloc

import numpy as np
import pytest

from weebill.corpus.cleaning.deduplicate import EXACT, FIRST, NEAR, Buckets, digests


def _by_sets(pairs, fold):
    """Return the same verdicts, computed with sets in memory."""
    texts, keys, verdicts = set(), set(), []
    for pair in pairs:
        key = tuple(fold(text) or text for text in pair)
        verdicts.append(EXACT if pair in texts else NEAR if key in keys else FIRST)
        texts.add(pair)
        keys.add(key)
    return verdicts


def _find(folder, pairs, bucket_rows, parts):
    buckets = Buckets(folder / "buckets", len(pairs), bucket_rows)
    step = -(-len(pairs) // parts)
    for part in range(parts):
        rows = pairs[part * step : (part + 1) * step]
        records = digests(tuple(list(side) for side in zip(*rows, strict=True)))
        records["row"] = np.arange(part * step, part * step + len(rows))
        buckets.write(f"part-{part}", [records[:7], records[7:]])
    buckets.find(folder / "repeats")
    return np.fromfile(folder / "repeats", np.uint8).tolist()


@pytest.mark.parametrize("bucket_rows, parts", [(10_000, 1), (100, 3), (7, 5)])
def test_equals_sets(tmp_path, fold, bucket_rows, parts):
    dice = random.Random(2)
    words = ["a", "A", "a!", "b", "B ", "1", "1.", "€", "?", "!!", ""]
    pairs = [tuple("".join(dice.choices(words, k=2)) for _ in "st") for _ in range(1000)]
    verdicts = _find(tmp_path, pairs, bucket_rows, parts)
    assert verdicts == _by_sets(pairs, fold)
    assert set(verdicts) == {FIRST, EXACT, NEAR}


def test_the_commonest_pair_costs_no_memory(tmp_path, fold):
    rows, batch = 400_000, 4000
    pairs = [("a", "b"), ("A", "b"), ("a", "b!"), *[("a", "b")] * (batch - 3)]
    records = digests(tuple(list(side) for side in zip(*pairs, strict=True)))
    buckets = Buckets(tmp_path / "buckets", rows)
    for start in range(0, rows, batch):
        records["row"] = np.arange(start, start + batch)
        buckets.write(f"part-{start:06d}", [records])
    tracemalloc.start()
    buckets.find(tmp_path / "repeats")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e6  # the records alone would be 9.6 MB
    verdicts = np.fromfile(tmp_path / "repeats", np.uint8).tolist()
    assert verdicts == _by_sets(pairs * (rows // batch), fold)


def test_sides_do_not_flow_together(tmp_path):
    assert _find(tmp_path, [("ab", "c"), ("a", "bc"), ("?", "!"), ("!", "?")], 10, 1) == [0] * 4


def test_an_interrupted_part_is_replaced(tmp_path):
    buckets = Buckets(tmp_path / "buckets", 2)
    records = digests((["a", "b"],))
    records["row"] = [0, 1]
    buckets.write("part", [records])
    buckets.write("part", [records])
    buckets.find(tmp_path / "repeats")
    assert np.fromfile(tmp_path / "repeats", np.uint8).tolist() == [FIRST, FIRST]
