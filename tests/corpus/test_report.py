"""The report counts what the table holds, and knows found damage from lost good rows."""

import pyarrow as pa
import pytest

from goldcrest.corpus.report import as_json, corpus_report, damage_found, waterfall
from goldcrest.corpus.table import write_table

# (noise, dropped_by): copied is found 3 times of 4; of the undamaged rows 1 is lost, 1 is test text
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
    table = as_table([(f"a | {i}", f"b {i}") for i in range(len(OUTCOMES))], noise)
    dropped = pa.array(dropped, pa.string())
    index = table.schema.get_field_index("dropped_by")
    write_table(tmp_path / "t.parquet", table.set_column(index, "dropped_by", dropped))
    return corpus_report("demo", tmp_path / "t.parquet")


def test_waterfall(report):
    assert (report.rows, report.kept, report.labelled) == (12, 7, True)
    steps = [tuple(step.values())[1:] for step in waterfall(report)]
    assert steps == [
        ("identical", 12, 2, 10, 1.0),
        ("numbers", 10, 1, 9, 0.0),
        ("language_target", 9, 1, 8, 1.0),
        ("test_overlap", 8, 1, 7, None),
    ]


def test_recall_and_precision(report):
    copied, truncated = damage_found(report)
    assert (copied["rows"], copied["found"], copied["recall"]) == (4, 3, 0.75)
    assert copied["precision"] == 3 / 4  # the row lost to `numbers` counts, test text does not
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
