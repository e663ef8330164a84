"""Rows and lines are drawn without repetition, with equal chances at every position."""

import numpy as np
import pyarrow as pa
import pytest

from weebill.corpus.sampling import draw_items, draw_rows


def batches(rows, size):
    for begin in range(0, rows, size):
        yield pa.table({"row": list(range(begin, min(begin + size, rows)))})


def drawn(rows, size, count, seed=1):
    return draw_rows(batches(rows, size), count, seed)["row"].to_pylist()


def test_every_row_at_most_once():
    for size in (1, 7, 100):
        rows = drawn(100, size, 30)
        assert len(rows) == len(set(rows)) == 30 and rows != sorted(rows)
    assert sorted(drawn(100, 7, 1000)) == list(range(100))
    assert draw_rows([], 3, 1) is None


def test_batches_do_not_matter():
    assert drawn(100, 7, 30) == drawn(100, 100, 30) != drawn(100, 7, 30, seed=2)


def test_lines():
    lines = [str(number) for number in range(40)]
    assert draw_items(lines, 40, 1) == draw_items(lines, 100, 1) == lines
    some = draw_items(iter(lines), 10, 1)
    assert len(set(some)) == 10 and set(some) < set(lines)
    assert some == draw_items(lines, 10, 1) != draw_items(lines, 10, 2)


@pytest.mark.parametrize(
    "draw", [lambda seed: drawn(40, 9, 10, seed), lambda seed: draw_items(range(40), 10, seed)]
)
def test_equal_chances(draw):
    """Chi-square of 400 draws of 10 from 40 rows has 39 degrees of freedom; only 1 of 8,000 tries is over 80."""
    counts = np.zeros(40)
    for seed in range(400):
        counts[draw(seed)] += 1
    # The rows of a draw differ, which multiplies the sum by (40 - 10) / (40 - 1).
    assert ((counts - 100) ** 2 / 100).sum() * 39 / 30 < 80
