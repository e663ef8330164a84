"""Tables with a paper's numbers and ours, built from a declaration of the rows and quantities to compare."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weebill.report import papers
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Comparison, Row, Table, delta

Printed = Mapping[str, str]
# Sides of a column in their order, each with the pattern that makes its key from the column's.
OURS_FIRST = {"ours": "{}_ours", "paper": "{}_paper"}
PAPER_FIRST = {"paper": "{}", "ours": "{}_ours"}


@dataclass(frozen=True)
class Line:
    """Row of a table: its labels, our model and the paper's row, either of which may be missing."""

    labels: tuple[str, ...]
    ours: Any = None
    paper: Printed | None = None
    ours_base: Any = None
    paper_base: Printed | None = None
    kind: Literal["plain", "baseline", "absent"] = "plain"


@dataclass(frozen=True)
class Quantity:
    """Number to compare, with its readers for our model and the paper's row; both return text, "" if absent."""

    key: str
    title: str
    ours: Callable[[Results, Any], str] | None  # None: the column lacks our side
    paper: Callable[[Printed], str]
    comparison: Comparison = "none"
    against: "Quantity | None" = None  # the baseline's quantity to compare with; None: the same
    bounds: Mapping[str, tuple[str, Callable[[Results, Any], str]]] | None = None
    """Further columns of ours: ending of the key → title and text."""
    ours_key: str = ""


def printed(column: str) -> Callable[[Printed], str]:
    """Return a function that reads a paper's column."""
    return lambda row: row[column]


def nothing(row: Printed) -> str:
    """Return "" for a column that the paper's table does not have."""
    return ""


@dataclass(frozen=True)
class PaperTable:
    """Declaration of a table that compares with a paper's: its rows, its columns, and its place in the report."""

    name: str  # name of the table's files
    csv: str  # name of the file with the paper's numbers
    title: str
    explanation: str
    labels: tuple[Column, ...]
    lines: Callable[[Results, list[Printed]], Iterable[Line]]
    quantities: Callable[[Results], Sequence[Quantity]]
    notes: Callable[[Results], Iterable[str]]
    label: str  # label in Snakemake's report
    caption: str  # file in report/
    paper: str | None = None  # subsection in the report
    sides: Mapping[str, str] = field(default_factory=OURS_FIRST.copy)
    details: tuple[str, ...] = ()  # the paper's columns of text, shown last
    folder: str = ""  # below the folder of all tables
    needs: tuple[str, ...] = ("qualities", "sizes")  # fields of Results; `uses` if measured
    uses: tuple[str, ...] = ()
    shown: Callable[[Mapping[str, Any]], bool] = lambda config: True

    def build(self, results: Results) -> Table:
        """Fill the table with our measurements."""
        rows = papers.load(self.csv).to_dict("records")
        quantities = self.quantities(results)
        columns = [column for quantity in quantities for column in self._columns(quantity)]
        details = [Column(name, name.capitalize(), numeric=False) for name in self.details]
        return Table(
            self.name,
            self.title,
            self.explanation,
            (*self.labels, *columns, *details),
            tuple(self._row(results, quantities, line) for line in self.lines(results, rows)),
            tuple(self.notes(results)),
        )

    def _columns(self, quantity: Quantity) -> list[Column]:
        found = []
        for side, key in self.sides.items():
            own = quantity.ours_key if side == "ours" else ""
            if side == "paper" or quantity.ours:
                name = own or key.format(quantity.key)
                deltas = quantity.comparison != "none"
                found.append(Column(name, quantity.title, side, deltas=deltas))
        for ending, (title, _) in (quantity.bounds or {}).items():
            found.append(Column(f"{quantity.key}_{ending}", quantity.title, title))
        return found

    def _row(self, results: Results, quantities: Sequence[Quantity], line: Line) -> Row:
        cells = [Cell(text) for text in line.labels]
        for quantity in quantities:
            readers = {
                "ours": quantity.ours and (lambda one, model: one.ours(results, model)),
                "paper": lambda one, row: one.paper(row),
            }
            models = {
                "ours": (line.ours, line.ours_base),
                "paper": (line.paper, line.paper_base),
            }
            for side in self.sides:
                if readers[side]:
                    cells.append(_cell(quantity, readers[side], *models[side]))
            for _, read in (quantity.bounds or {}).values():
                cells.append(Cell("" if line.ours is None else read(results, line.ours)))
        cells += [Cell(line.paper[name]) for name in self.details]
        return Row(tuple(cells), line.kind)


def _cell(quantity: Quantity, read: Callable[[Quantity, Any], str], model: Any, base: Any) -> Cell:
    """Return the cell of a model or paper's row: its text, and its comparison with the baseline's."""
    if model is None:
        return Cell()
    text, other = read(quantity, model), quantity.against or quantity
    if base is None or (model == base and other.key == quantity.key):
        return Cell(text)
    return Cell(text, delta(text, read(other, base), quantity.comparison))
