"""Texts drawn at random come from the whole table, not from its beginning."""

import pyarrow as pa

from weebill.corpus.drawn_texts import draw_texts
from weebill.corpus.table import SCHEMA, write_table

ROWS = 2000


def table(path, dropped=()):
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
    drawn = draw_texts(table(tmp_path / "t.parquet"), "source", 400, seed=1)
    numbers = [int(text.split()[1]) for text in drawn]
    assert len(set(numbers)) == 400
    # Binomial: 200 of each, with a deviation of 9.
    assert 150 < sum(number < ROWS // 2 for number in numbers) < 250


def test_all_of_a_small_table_without_dropped_rows(tmp_path):
    drawn = draw_texts(table(tmp_path / "t.parquet", dropped={0, 5}), "source", 10**6, seed=1)
    assert sorted(drawn) == sorted(f"line {n}" for n in range(ROWS) if n not in (0, 5))


def test_a_seed_draws_the_same_again_and_another_seed_others(tmp_path):
    path = table(tmp_path / "t.parquet")
    first, again, other = (draw_texts(path, "source", 20, seed) for seed in (1, 1, 2))
    assert first == again != other
