"""Rows and lines are drawn without repetition, with equal chances at every position."""

import numpy as np
import pyarrow as pa
import pytest

from weebill.corpus.sampling import draw_items, draw_rows, draw_texts
from weebill.corpus.table import SCHEMA, write_table

ROWS = 2000


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


def drawn_table(path, dropped=()):
    rows = {
        "source": [f"line {number}" for number in range(ROWS)],
        "target": ["x"] * ROWS,
        "corpus": ["first"] * (ROWS // 2) + ["second"] * (ROWS // 2),
        "row": list(range(ROWS)),
        "dropped_by": ["length" if number in dropped else None for number in range(ROWS)],
    }
    write_table(path, pa.table(rows, SCHEMA))
    return path


def test_the_second_corpus_gives_as_many_as_the_first(tmp_path):
    drawn = draw_texts(drawn_table(tmp_path / "t.parquet"), "source", 400, seed=1)
    numbers = [int(text.split()[1]) for text in drawn]
    assert len(set(numbers)) == 400
    # Binomial: 200 of each, with a deviation of 9.
    assert 150 < sum(number < ROWS // 2 for number in numbers) < 250


def test_all_of_a_small_table_without_dropped_rows(tmp_path):
    drawn = draw_texts(drawn_table(tmp_path / "t.parquet", dropped={0, 5}), "source", 10**6, seed=1)
    assert sorted(drawn) == sorted(f"line {n}" for n in range(ROWS) if n not in (0, 5))


def test_a_seed_draws_the_same_again_and_another_seed_others(tmp_path):
    path = drawn_table(tmp_path / "t.parquet")
    first, again, other = (draw_texts(path, "source", 20, seed) for seed in (1, 1, 2))
    assert first == again != other
