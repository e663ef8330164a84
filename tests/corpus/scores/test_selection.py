"""Cuts, compared with a brute-force sort; score tables that do not fit their corpus."""

import math
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weebill.corpus.scores.scoring import score_corpus
from weebill.corpus.scores.selection import ScoreTable, select
from weebill.corpus.table import SCHEMA, ShardWriter, read_columns, shard_paths, write_table
from weebill.errors import InputError
from weebill.experiment.scores import SCORES, Cut

# Few different values, for many ties; both zeros, neighbours in the last bit, and both signs.
VALUES = [-3.5, -1.0, -0.0, 0.0, 1e-300, 0.25, np.nextafter(0.25, 1), 2.0, 40.0]


def make(folder, rows, seed, shard_rows=7):
    """Write a corpus of `rows` rows, some already dropped, and all its scores.

    Returns (path, score tables by name, rows).
    """
    draw = random.Random(seed)
    dropped = [draw.choice([None, None, None, "urls"]) for _ in range(rows)]
    values = {name: [draw.choice(VALUES) for _ in range(rows)] for name in SCORES}
    with ShardWriter(folder / "cleaned", SCHEMA, shard_rows) as writer:
        writer.write(
            pa.table(
                {
                    "source": [str(row) for row in range(rows)],
                    "target": [str(row) for row in range(rows)],
                    "corpus": ["test"] * rows,
                    "row": range(rows),
                    "dropped_by": pa.array(dropped, pa.string()),
                },
                schema=SCHEMA,
            )
        )
    tables = {}
    for name, column in values.items():
        tables[name] = folder / "scores" / name
        score_corpus(
            folder / "cleaned",
            tables[name],
            SCORES[name],
            lambda *texts, column=column: np.array([column[int(row)] for row in texts[0]]),
            {},
            batch_rows=3,
        )
    return folder / "cleaned", tables, (values, dropped)


def brute_force(values, dropped, cuts):
    """Return `dropped_by` by sorting all rows: the worst come last; among equal scores, the later rows."""
    result = list(dropped)
    for name, cut in cuts:
        sign = -1 if SCORES[name].higher_is_better else 1
        kept = [row for row, by in enumerate(result) if by is None]
        order = sorted(kept, key=lambda row: (sign * values[name][row], row))
        if cut.threshold is not None:
            worst = [row for row in kept if sign * values[name][row] > sign * cut.threshold]
        elif cut.best is not None:
            worst = order[cut.best :]
        elif cut.percent is not None:
            worst = order[len(order) - math.floor(len(order) * cut.percent / 100) :]
        else:
            worst = []
        for row in worst:
            result[row] = name
    return result


@pytest.mark.parametrize("seed", range(20))
def test_cuts_equal_sorting(tmp_path, seed):
    draw = random.Random(1000 + seed)
    rows = draw.choice([1, 6, 7, 8, 22, 40])  # in shards of 7
    corpus, tables, (values, dropped) = make(tmp_path, rows, seed)
    possible = [
        Cut(),
        Cut(percent=draw.choice([0, 5, 12.5, 50, 75])),
        Cut(best=draw.choice([1, 3, 20, 1000])),
        Cut(threshold=draw.choice(VALUES)),
    ]
    cuts = [(name, draw.choice(possible)) for name in SCORES]
    expected = brute_force(values, dropped, cuts)
    scores = [ScoreTable(name, tables[name], cut) for name, cut in cuts]
    if None not in expected and None in dropped:
        with pytest.raises(InputError, match="leave none of"):
            select(corpus, tmp_path / "selected", scores)
        return
    counts = select(corpus, tmp_path / "selected", scores)
    table = read_columns(tmp_path / "selected", ["row", "dropped_by"], kept=False).to_pydict()
    assert table == {"row": list(range(rows)), "dropped_by": expected}
    assert counts == {name: expected.count(name) for name in SCORES}
    names = [path.name for path in shard_paths(tmp_path / "selected")]
    assert names == [path.name for path in shard_paths(corpus)]


@pytest.mark.parametrize(("rows", "percent", "count"), [(199, 5, 9), (200, 5, 10), (1000, 0.7, 7)])
def test_percent_is_rounded_down_in_decimal(rows, percent, count):
    """The binary product 1000 · 0.7 / 100 is 6.999…."""
    assert Cut(percent=percent).count(rows) == count


def test_columns_and_weights(tmp_path):
    """Scores become columns, null in rows that were already dropped; weight = exp(0.1 p)."""
    corpus, tables, (values, dropped) = make(tmp_path, 20, 1)
    name = "reverse_model"
    select(corpus, tmp_path / "out", [ScoreTable(name, tables[name], Cut(percent=50), 0.1)])
    rows = read_columns(tmp_path / "out", [SCORES[name].column, "weight"], kept=False).to_pylist()
    for row, value, by in zip(rows, values[name], dropped, strict=True):
        if by is None:
            assert row["weight"] == pytest.approx(math.exp(0.1 * value))
            assert row["reverse_log_probability"] == value
        else:
            assert row == {"reverse_log_probability": None, "weight": None}


def test_a_single_file_without_dropped_by(tmp_path):
    """Distilled text is one file without dropped rows; the result is one file too."""
    write_table(tmp_path / "t.parquet", pa.table({"source": list("abcd"), "target": list("wxyz")}))
    name = "language_model_target"
    order = {"w": 2.0, "x": 9.0, "y": 1.0, "z": 3.0}
    score_corpus(
        tmp_path / "t.parquet",
        tmp_path / "s",
        SCORES[name],
        lambda texts: np.array([order[text] for text in texts]),
        {},
    )
    cut = ScoreTable(name, tmp_path / "s", Cut(percent=25))
    assert select(tmp_path / "t.parquet", tmp_path / "out.parquet", [cut]) == {name: 1}
    assert pq.read_table(tmp_path / "out.parquet").to_pylist()[1] == {
        "source": "b",
        "target": "x",
        "dropped_by": name,
        "cross_entropy_target": 9.0,
    }


def change(path, function):
    pq.write_table(function(pq.read_table(path)), path)


def test_tables_that_do_not_fit_are_named(tmp_path):
    corpus, tables, _ = make(tmp_path, 20, 3)
    name = "reverse_model"
    scores = [ScoreTable(name, tables[name], Cut(percent=5))]
    shard = tables[name] / "part-00001.parquet"
    whole = shard.read_bytes()
    change(shard, lambda table: table.slice(1))
    with pytest.raises(InputError, match=r"part-00001\.parquet: has 6 rows where .* has 7"):
        select(corpus, tmp_path / "selected", scores)
    shard.write_bytes(whole)
    change(shard, lambda table: pa.concat_tables([table.slice(1), table.slice(0, 1)]))
    with pytest.raises(InputError, match="is scored where the corpus has dropped it"):
        select(corpus, tmp_path / "selected", scores)
    shard.unlink()
    with pytest.raises(InputError, match=r"has 2 shards where .* has 3"):
        select(corpus, tmp_path / "selected", scores)
    assert not (tmp_path / "selected").exists()
