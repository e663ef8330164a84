"""The report's counts match the table, and separate found damage from lost good rows."""

import numpy as np
import pyarrow as pa
import pytest

from weebill.corpus.report import (
    EXAMPLES,
    as_json,
    corpus_report,
    damage_found,
    histogram,
    waterfall,
)
from weebill.corpus.table import write_table

# (noise, dropped_by): 3 of 4 copied rows are found; 1 undamaged row is lost, 1 is test text.
OUTCOMES = [
    *[("copied", "identical")] * 2,
    ("copied", "language_target"),
    ("copied", None),
    ("truncated", None),
    (None, "numbers"),
    (None, "test_overlap"),
    *[(None, None)] * 5,
]


@pytest.fixture
def report(tmp_path, as_table):
    noise, dropped = (list(column) for column in zip(*OUTCOMES, strict=True))
    pairs = [(f"a | {i}", f"b {i}") for i in range(len(OUTCOMES))]
    write_table(tmp_path / "t.parquet", as_table(pairs, noise, dropped))
    return corpus_report("demo", tmp_path / "t.parquet")


def test_waterfall(report):
    assert (report.rows, report.kept, report.labelled) == (12, 7, True)
    steps = [tuple(step.values()) for step in waterfall(report)]
    assert steps == [
        ("identical", 12, 2, 10, 1.0),
        ("numbers", 10, 1, 9, 0.0),
        ("language_target", 9, 1, 8, 1.0),
        ("test_overlap", 8, 1, 7, None),
    ]


def test_recall_and_precision(report):
    copied, truncated = damage_found(report)
    assert (copied["rows"], copied["found"], copied["recall"]) == (4, 3, 0.75)
    assert copied["precision"] == 3 / 4  # counts the row lost to `numbers`, but not test text
    assert copied["by"] == {"identical": 2, "language_target": 1}
    assert (truncated["recall"], truncated["precision"]) == (0.0, 0.0)


def test_examples(report):
    assert report.examples["identical"] == [
        (0, "a | 0", "b 0", "copied"),
        (1, "a | 1", "b 1", "copied"),
    ]
    assert as_json([report])["demo"]["examples"]["numbers"][0]["row"] == 5


def test_unlabelled_corpora_have_no_damage(tmp_path, as_table):
    write_table(tmp_path / "t.parquet", as_table([("a", "b")]))
    report = corpus_report("plain", tmp_path / "t.parquet")
    assert not report.labelled and damage_found(report) == [] and waterfall(report) == []


def test_examples_are_drawn_from_all_rows(tmp_path, as_table):
    """A seed draws ten different rows of the filter; all rows have about equal frequency."""
    dropped = ["urls" if row % 2 else None for row in range(40)]
    write_table(tmp_path / "t.parquet", as_table([("a", "b")] * 40, dropped=dropped))
    drawn = [
        corpus_report("x", tmp_path / "t.parquet", seed).examples["urls"] for seed in range(200)
    ]
    rows = [[example[0] for example in examples] for examples in drawn]
    assert all(len(set(r)) == EXAMPLES and all(n % 2 for n in r) and r == sorted(r) for r in rows)
    counts = np.bincount(np.concatenate(rows), minlength=40)[1::2]
    assert counts.sum() == 2000 and counts.min() > 60 and counts.max() < 140  # 100, deviation 7
    again = corpus_report("x", tmp_path / "t.parquet", 7).examples["urls"]
    assert again == drawn[7] != drawn[8]


def test_histogram_counts_every_row_with_a_score(tmp_path):
    """Kept and dropped rows are counted separately, as by hand; rows without a score have no bin."""
    values = [None if row % 10 == 0 else float(row % 7) for row in range(1000)]
    dropped = ["urls" if v is None else "reverse_model" if v < 2 else None for v in values]
    columns = {
        "score": pa.array(values, pa.float64()),
        "dropped_by": pa.array(dropped, pa.string()),
    }
    write_table(tmp_path / "t.parquet", pa.table(columns))
    found = histogram(tmp_path / "t.parquet", "score", bins=6)
    assert found.edges == pytest.approx(list(range(7)))
    of = {value: values.count(float(value)) for value in range(7)}
    assert found.dropped == [of[0], of[1], 0, 0, 0, 0]
    assert found.kept == [0, 0, of[2], of[3], of[4], of[5] + of[6]]
