"""Declarations of papers' tables: CSV, our values, compared columns; deltas by arithmetic, missing sides empty."""

import pytest

from tests.report.conftest import read
from weebill.report import papers
from weebill.report.registry import PAPER_TABLES
from weebill.report.results import Results
from weebill.report.table import Column
from weebill.report.tables.beside_papers.comparison import (
    PAPER_FIRST,
    Line,
    PaperTable,
    Quantity,
    paper_tables,
)

OURS = {"tiny": 50.0, "mine": 20.0}


def lines(results, rows):
    rows = {row["model"]: row for row in rows if row["model"] in ("base", "tiny")}
    return [
        Line((name,), OURS.get(name) and name, rows.get(name), "tiny", rows["base"])
        for name in ("base", "tiny", "mine")
    ]


SIZE = Quantity(
    "size_mb",
    "Size",
    lambda results, name: f"{results.config[name]:.1f}",
    "ratio",
    bounds={"low": ("from", lambda results, name: f"{results.config[name] - 1:.1f}")},
)
TABLE = PaperTable(
    "example",
    "wngt2020_table1",
    "Example",
    "An example.",
    (Column("model", "Model", numeric=False),),
    lines,
    lambda results: (SIZE, Quantity("emb", "Width", None)),
    lambda results: ("A note.",),
    "Example",
    "paper_table",
)


def test_sides_are_compared_with_baselines_of_their_own():
    rows = {row["model"]: row for row in read(TABLE.build(Results(OURS)))}
    assert (rows["base"]["size_mb_paper"], rows["base"]["size_mb_paper_delta"]) == ("149", "")
    assert (rows["tiny"]["size_mb_paper"], rows["tiny"]["size_mb_paper_delta"]) == ("61", "x0.41")
    assert (rows["tiny"]["size_mb_ours"], rows["tiny"]["size_mb_ours_delta"]) == ("50.0", "")
    assert (rows["mine"]["size_mb_ours"], rows["mine"]["size_mb_ours_delta"]) == ("20.0", "x0.40")
    assert (rows["mine"]["size_mb_low"], rows["tiny"]["emb_paper"]) == ("19.0", "256")


def test_a_missing_side_is_empty():
    rows = {row["model"]: row for row in read(TABLE.build(Results(OURS)))}
    assert rows["base"]["size_mb_ours"] == rows["base"]["size_mb_low"] == ""
    assert rows["mine"]["size_mb_paper"] == rows["mine"]["emb_paper"] == ""
    assert "emb_ours" not in rows["mine"]


def test_the_paper_s_side_may_come_first():
    table = PaperTable(**{**vars(TABLE), "sides": PAPER_FIRST})
    keys = [column.key for column in table.build(Results(OURS)).columns]
    assert keys == ["model", "size_mb", "size_mb_ours", "size_mb_low", "emb"]


@pytest.mark.parametrize("kind", PAPER_TABLES)
def test_declarations_name_tables_of_the_papers(kind):
    tables = paper_tables(kind)
    assert len({(table.folder, table.name) for table in tables}) == len(tables)
    assert {table.csv for table in tables} <= {*papers.names()}


def test_every_table_of_the_papers_is_declared():
    assert {table.csv for kind in PAPER_TABLES for table in paper_tables(kind)} == {
        *papers.names()
    } - {"claims"}
