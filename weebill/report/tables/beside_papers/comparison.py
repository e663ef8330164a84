"""Tables with a paper's numbers and ours, built from a declaration of the rows and quantities to compare."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, Literal

from weebill.report import papers
from weebill.report.registry import PAPER_TABLES
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Comparison, Row, Table

Printed = Mapping[str, str]
Read = Callable[[Results, Any], str]
# Sides of a column in order, each with the pattern of its key.
OURS_FIRST = {"ours": "{}_ours", "paper": "{}_paper"}
PAPER_FIRST = {"paper": "{}", "ours": "{}_ours"}


@dataclass(frozen=True)
class Line:
    """Row of a table: its labels, our model and the paper's row; one of the two may be missing."""

    labels: tuple[str, ...]
    ours: Any = None
    paper: Printed | None = None
    ours_base: Any = None
    paper_base: Printed | None = None
    kind: Literal["plain", "baseline", "absent"] = "plain"


@dataclass(frozen=True)
class Quantity:
    """Number to compare, with functions that read it for our model and the paper's row; both return "" if absent."""

    key: str
    title: str
    ours: Read | None  # None: the column lacks our side
    comparison: Comparison = "none"
    printed: Callable[[Printed], str] | None = None  # None: the paper's column `key`, if it has one
    against: "Quantity | None" = None  # the baseline's quantity to compare with; None: the same
    # Further columns of ours: ending of the key → title and text.
    bounds: Mapping[str, tuple[str, Read]] = field(default_factory=dict)
    ours_key: str = ""

    def paper(self, row: Printed) -> str:
        """Return the paper's number."""
        return self.printed(row) if self.printed else row.get(self.key, "")

    def cell(self, side: str, results: Results, line: Line) -> Cell:
        """Return the cell of our model or of the paper's row: its text, and its comparison with the baseline."""
        model, base = getattr(line, side), getattr(line, f"{side}_base")
        if model is None:
            return Cell()
        other = self.against or self
        text = self._text(side, results, model)
        if base is None or (model == base and other.key == self.key):
            return Cell(text)
        return Cell.compared(text, other._text(side, results, base), self.comparison)

    def _text(self, side: str, results: Results, model: Any) -> str:
        return self.ours(results, model) if side == "ours" else self.paper(model)


@dataclass(frozen=True)
class PaperTable:
    """Declaration of a table that is compared with a paper's: rows, columns, and place in the report."""

    name: str  # name of the table's files
    csv: str  # name of the file with the paper's numbers
    title: str
    explanation: str
    labels: Sequence[Column]
    lines: Callable[[Results, list[Printed]], Iterable[Line]]
    quantities: Callable[[Results], Sequence[Quantity]]
    notes: Callable[[Results], Sequence[str]]
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
        return Table(
            self.name,
            self.title,
            self.explanation,
            [
                *self.labels,
                *columns,
                *Column.texts(**{name: name.capitalize() for name in self.details}),
            ],
            [self._row(results, quantities, line) for line in self.lines(results, rows)],
            self.notes(results),
        )

    def _sides(self, quantity: Quantity) -> list[str]:
        return [side for side in self.sides if side == "paper" or quantity.ours]

    def _columns(self, quantity: Quantity) -> list[Column]:
        keys = {side: self.sides[side].format(quantity.key) for side in self._sides(quantity)}
        if quantity.ours_key:
            keys["ours"] = quantity.ours_key
        deltas = quantity.comparison != "none"
        found = [Column(key, quantity.title, side, deltas=deltas) for side, key in keys.items()]
        bounds = {f"{quantity.key}_{end}": title for end, (title, _) in quantity.bounds.items()}
        return found + Column.grouped(quantity.title, **bounds)

    def _row(self, results: Results, quantities: Sequence[Quantity], line: Line) -> Row:
        cells: list[Cell | str] = [*line.labels]
        for quantity in quantities:
            cells += [quantity.cell(side, results, line) for side in self._sides(quantity)]
            for _, read in quantity.bounds.values():
                cells.append("" if line.ours is None else read(results, line.ours))
        cells += [line.paper[name] for name in self.details]
        return Row.of(cells, kind=line.kind)


def paper_tables(kind: str) -> list[PaperTable]:
    """Return the papers' tables of a kind of experiment, in the order of the papers."""
    return [table for name in PAPER_TABLES[kind] for table in resolve_name(name)]
