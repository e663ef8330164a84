"""grow-diag-final-and against the published pseudo-code, and by hand."""

import random

import pytest

from weebill.corpus.symmetrization import NEIGHBOURS, grow_diag_final_and


def as_written(forward, reverse):
    """Run the pseudo-code of the Moses manual, word by word, over the whole matrix."""
    rows = 1 + max((i for i, _ in forward | reverse), default=-1)
    columns = 1 + max((j for _, j in forward | reverse), default=-1)
    links = forward & reverse

    def free_source(i):
        return all(link[0] != i for link in links)

    def free_target(j):
        return all(link[1] != j for link in links)

    added = True
    while added:
        added = False
        for i in range(rows):
            for j in range(columns):
                if (i, j) not in links:
                    continue
                for down, right in NEIGHBOURS:
                    new = i + down, j + right
                    if (
                        (free_source(new[0]) or free_target(new[1]))
                        and new in forward | reverse
                        and new not in links
                    ):
                        links.add(new)
                        added = True
    for direction in (forward, reverse):
        for i in range(rows):
            for j in range(columns):
                if free_source(i) and free_target(j) and (i, j) in direction:
                    links.add((i, j))
    return sorted(links)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_random_links_give_what_the_written_algorithm_gives(share):
    """share: fraction of links that both directions have in common."""
    draw = random.Random(int(10 * share))
    differed = 0
    for _ in range(300):
        rows, columns = draw.randint(1, 9), draw.randint(1, 9)
        forward = {(draw.randrange(rows), j) for j in range(columns) if draw.random() < 0.8}
        reverse = {(i, draw.randrange(columns)) for i in range(rows) if draw.random() < 0.8}
        reverse |= {link for link in forward if draw.random() < share}
        found = grow_diag_final_and(forward, reverse)
        assert found == as_written(forward, reverse)
        differed += set(found) not in (forward & reverse, forward | reverse)
    assert differed > 100, "the cases ask for more than an intersection or a union"


@pytest.mark.parametrize(
    ("forward", "reverse", "expected"),
    [
        ({(0, 0), (1, 1)}, {(0, 0), (1, 1)}, [(0, 0), (1, 1)]),
        # (0, 1) is a neighbour and its target is free; afterwards both words of (1, 1) are taken.
        ({(0, 0), (0, 1)}, {(0, 0), (1, 1)}, [(0, 0), (0, 1), (1, 1)]),
        # Far from the intersection, both words free: final.
        ({(0, 0), (4, 3)}, {(0, 0), (2, 6)}, [(0, 0), (2, 6), (4, 3)]),
        # Far from the intersection, one word taken: final-and leaves it out.
        ({(0, 0), (0, 3)}, {(0, 0)}, [(0, 0)]),
        # Two links share a word: the forward link comes first.
        ({(3, 3)}, {(3, 5)}, [(3, 3)]),
        (set(), set(), []),
    ],
)
def test_by_hand(forward, reverse, expected):
    assert grow_diag_final_and(forward, reverse) == expected
