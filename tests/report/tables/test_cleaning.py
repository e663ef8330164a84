"""Cleaning's tables and figure show the counts of its report."""

import csv
from collections import Counter

import pytest

from weebill.corpus.report import STEPS, CorpusReport, Histogram
from weebill.report.figures.cleaning import _colours, cleaning_figure
from weebill.report.rendering import write_table
from weebill.report.tables.cleaning import SHOWN_CHARACTERS, cleaning_tables

PLAIN = CorpusReport("plain", rows=2, kept=2, noise={None: Counter({None: 2})})


def labelled_report():
    """Return a report in which 3 of 4 copied rows are found, and one undamaged row is lost."""
    return CorpusReport(
        "demo",
        rows=10,
        kept=6,
        dropped={"identical": 2, "numbers": 1, "language_target": 1},
        noise={
            "copied": Counter({"identical": 2, "language_target": 1, None: 1}),
            None: Counter({"numbers": 1, None: 5}),
        },
        examples={"identical": [(7, "<b> | x", "y" * 200, "copied")]},
    )


@pytest.fixture
def labelled():
    return labelled_report()


@pytest.fixture
def written(labelled, tmp_path):
    """Return the folder with tables of a labelled and an unlabelled corpus."""
    for table in cleaning_tables([labelled, PLAIN], {"source": "en", "target": "de"}):
        write_table(table, tmp_path)
    return tmp_path


def lines(path):
    """Return the rows of a CSV without its header."""
    return [",".join(row) for row in list(csv.reader(path.open(newline="")))[1:]]


def test_filters(written):
    assert lines(written / "cleaning.csv") == [
        "demo,rows in,,10,,",
        "demo,identical,2,8,80.0,100.0",
        "demo,numbers,1,7,87.5,0.0",
        "demo,language_target (de),1,6,85.7,100.0",
        "demo,kept,,6,60.0,",
        "plain,rows in,,2,,",
        "plain,kept,,2,100.0,",
    ]


def test_damage(written):
    found = "identical 2, language_target 1"
    assert lines(written / "cleaning_damage.csv") == [f"demo,copied,4,3,75.0,75.0,{found}"]


def test_examples_cannot_break_out_of_their_cell(written):
    (example,) = lines(written / "cleaning_examples.csv")
    assert example == f"demo,identical,7,<b> | x,{'y' * (SHOWN_CHARACTERS - 1)}…,copied"
    page = (written / "cleaning_examples.html").read_text()
    assert "&lt;b&gt; | x" in page
    assert f'<div class="text">{"y" * (SHOWN_CHARACTERS - 1)}…</div>' in page
    assert "&lt;b> \\| x" in (written / "cleaning_examples.md").read_text()


def test_every_score_has_a_histogram(labelled):
    labelled.scores["reverse_model"] = Histogram([-3.0, -2.0, -1.0], [0, 5], [2, 1])
    chart = cleaning_figure([labelled]).to_dict()["vconcat"][-1]
    assert chart["title"] == "reverse_model of demo"
    assert chart["encoding"]["x"]["title"] == "nats per piece (higher is better)"


def test_every_filter_has_a_colour_of_its_own():
    assert len(set(_colours([*STEPS, "kept"]))) == len(STEPS) + 1
