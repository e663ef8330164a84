"""Counted links against a plain loop."""

import random
from collections import Counter

import pytest

from weebill.corpus import links as counting
from weebill.corpus.links import count_links

PIECES = 12


def aligned_pairs(count=200):
    """Return random sentences with random links."""
    draw = random.Random(4)
    for _ in range(count):
        source = [draw.randrange(PIECES) for _ in range(draw.randint(0, 6))]
        target = [draw.randrange(PIECES) for _ in range(draw.randint(0, 6))]
        every = [(i, j) for i in range(len(source)) for j in range(len(target))]
        yield source, target, draw.sample(every, draw.randint(0, min(3, len(every))))


@pytest.mark.parametrize("buffer", [1, 7, 2**22])
def test_links_are_counted_as_by_a_loop(monkeypatch, buffer):
    monkeypatch.setattr(counting, "BUFFER", buffer)
    expected, occurrences = Counter(), Counter()
    for source, target, links in aligned_pairs():
        expected.update((source[i], target[j]) for i, j in links)
        occurrences.update(target)
    links, counts, found = count_links(aligned_pairs(), PIECES)
    assert dict(zip(links.tolist(), counts.tolist(), strict=True)) == {
        source * PIECES + target: number for (source, target), number in expected.items()
    }
    assert found.tolist() == [occurrences[piece] for piece in range(PIECES)]
