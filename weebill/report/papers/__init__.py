"""Tables of the papers, as printed, and their names.

Each table of the four papers is one CSV file, checked by hand against the paper.  Cells are text, because
"36.10" and "36.1" claim different precision.  Our own numbers are never stored here.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

from weebill.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Paper:
    """Paper whose tables the report of a kind of experiment shows.

    file: first part of the file names.  name: name in the report.  columns: meaning of each key of
    `report.columns.PAPER`; empty if no table compares students by `report.rows`.  The rows are named as in the column
    `model` of table 1.
    """

    kind: str
    file: str
    name: str
    columns: Mapping[str, str] = field(default_factory=dict)


# Papers in order, by their name in configuration and zoo; the modules of their tables have the same names.
PAPERS = {
    "wngt20": Paper(
        "translation",
        "wngt2020",
        "WNGT 2020",
        {
            "bleu_wmt16": "Test sets of the paper's WMT16, by their names in `test_sets`, same as in all of these "
            "columns.",
            "bleu_wmt19": "Test sets of the paper's WMT19.",
            "bleu_wmt1x": "Test sets of the paper's WMT1\\*, the mean over 2010 to 2019.",
        },
    ),
    "wmt21": Paper(
        "translation",
        "wmt2021",
        "WMT 2021",
        {
            "bleu_wmt20": "Test sets of the paper's WMT20.",
            "bleu_wmt21": "Test sets of the paper's WMT21.",
        },
    ),
    "cometinho": Paper("metric", "cometinho", "COMETINHO"),
    "textgen": Paper("generation", "textgen", "TEXTGEN"),
}
STUDENT_PAPERS = {name: paper for name, paper in PAPERS.items() if paper.columns}


def names() -> list[str]:
    """Return the names of the tables that exist, e.g. "wngt2020_table1"."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".csv") for file in files if file.name.endswith(".csv"))


def numbers(paper: str) -> list[int]:
    """Return the numbers of a paper's tables."""
    beginning = f"{PAPERS[paper].file}_table"
    return [int(name.removeprefix(beginning)) for name in names() if name.startswith(beginning)]


def load(name: str) -> "pd.DataFrame":
    """Return a paper's table as printed: cells are text, "" if absent.  Raises InputError for an unknown table."""
    import pandas as pd  # slow to import; every start of the workflow reads only names

    header, *rows = _read(name)
    return pd.DataFrame(rows, columns=header, dtype=str)


def load_table(paper: str, table: int) -> "pd.DataFrame":
    """Return a table of a paper by the paper's short name and the table's number, e.g. ("wngt20", 2)."""
    if paper not in PAPERS:
        raise InputError(f"no paper '{paper}'{nearest(paper, PAPERS)}")
    return load(f"{PAPERS[paper].file}_table{table}")


def students_of(paper: str) -> dict[str, dict[str, str]]:
    """Return the rows of a paper's table 1, cells by column, by the name printed in the column `model`."""
    header, *rows = _read(f"{PAPERS[paper].file}_table1")
    cells = (dict(zip(header, row, strict=True)) for row in rows)
    return {row["model"]: row for row in cells}


def _read(name: str) -> list[list[str]]:
    """Return header and rows of a table."""
    if name not in names():
        raise InputError(f"no paper table '{name}'{nearest(name, names())}")
    with (resources.files(__name__) / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))
