"""The table of training texts: rows by student and text, with the paper's numbers if it prints them."""

import pytest

from tests.report.conftest import CONFIG, measurement, read
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import Comparison
from weebill.experiment.training_texts import KINDS
from weebill.report.results import Results
from weebill.report.tables.training_texts import training_texts_table

TEXTS = {"all": list(KINDS), "parallel": ["parallel"]}
PAIRS = [1000, 200, 30, 29]  # pairs of each kind
CORPORA = {
    "a": {"use": "parallel"},
    "b": {"use": "monolingual"},
    "c": {"use": "monolingual-target"},
}


def comparison(variant: str, baseline: str) -> Comparison:
    return Comparison(
        variant, baseline, ["first", "second"], 2000, 37.5, 36.5, 38.5, 39.0, 38.0, 40.0, -1.5, -2.0,
        -1.004, 0.001, "nrefs:1",
    )  # fmt: skip


@pytest.fixture
def rows():
    names = ["small/unpruned/float32", "small@parallel/unpruned/float32"]
    scores = [
        measurement(Variant.parse(name), test_set, "BLEU", score)
        for name, score in zip(names, (39.0, 37.5), strict=True)
        for test_set in ("first", "second")
    ]
    config = {**CONFIG, "corpora": CORPORA, "distillation": {"training_texts": TEXTS}}
    texts = [comparison(names[1], names[0])]
    table = training_texts_table(Results(config, scores, texts=texts, pairs=PAIRS))
    return read(table)


def test_pairs_are_of_the_kinds_in_the_text(rows):
    assert [(row["student"], row["text"]) for row in rows] == [
        ("small", "all"),
        ("small", "parallel"),
    ]
    assert [row["backward_forward"] for row in rows] == ["29", ""]
    assert [row["parallel"] for row in rows] == ["1000", "1000"]


def test_differences_are_to_the_first_text(rows):
    assert [row["bleu"] for row in rows] == ["39.00", "37.50"]
    assert [row["difference"] for row in rows] == ["", "-1.50"]
    assert (rows[1]["difference_low"], rows[1]["difference_high"]) == ("-2.00", "-1.00")


def test_the_paper_prints_all_four_kinds_alone(rows):
    """The paper's 12-1.tiny, compared with `small`, has 36.1 on WMT20."""
    assert [row["bleu_wmt20_ours"] for row in rows] == ["39.00", "37.50"]
    assert [row["bleu_wmt20_paper"] for row in rows] == ["36.1", ""]
