"""Tables as data: columns in groups, footnotes, and cells with formatted text, which is the same in every format."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import groupby
from typing import Any, Literal

ABSENT = "–"  # shown in place of a missing counterpart

Comparison = Literal["difference", "ratio", "none"]


@dataclass(frozen=True)
class Cell:
    """Cell of a table: its text as shown, its delta to the row's baseline, and a mark; each may be "".

    All are plain ASCII: a text like "41.10", a delta like "-0.40" (signed difference) or "x0.26" (ratio).  A mark
    follows the text, and a note of the table explains it; CSV leaves it out.
    """

    text: str = ""
    delta: str = ""
    mark: str = ""

    @classmethod
    def compared(cls, text: str, baseline: str, comparison: Comparison, mark: str = "") -> "Cell":
        """Return the cell of a number with its delta against the baseline's."""
        return cls(text, delta(text, baseline, comparison), mark)


@dataclass(frozen=True)
class Column:
    """Column with a heading `group`, which neighbours may share, and its own `title` below, which may be ""."""

    key: str  # name of the column in CSV
    group: str
    title: str = ""
    numeric: bool = True
    deltas: bool = False  # True if a column of deltas follows in CSV

    @classmethod
    def texts(cls, **headings: str) -> "list[Column]":
        """Return columns of text.  headings: key → heading."""
        return [cls(key, heading, numeric=False) for key, heading in headings.items()]

    @classmethod
    def grouped(cls, heading: str, **titles: str) -> "list[Column]":
        """Return columns of numbers under one heading.  titles: key → the column's own title."""
        return [cls(key, heading, title) for key, title in titles.items()]

    @classmethod
    def scored(cls, key: str, metric: str) -> "list[Column]":
        """Return the columns of `score_cells`."""
        return [
            cls(key, metric, deltas=True),
            *cls.grouped(f"{metric}, 95 %", **{f"{key}_low": "from", f"{key}_high": "to"}),
            cls(f"{key}_p", f"p ({metric})"),
        ]


@dataclass(frozen=True)
class Row:
    """Row of a table; `kind` only affects its appearance."""

    cells: Sequence[Cell]
    kind: Literal["plain", "baseline", "absent"] = "plain"

    @classmethod
    def of(cls, cells: Iterable[Cell | str], baseline: bool = False, kind: str = "plain") -> "Row":
        """Make a row of cells, or of texts without a delta."""
        made = [Cell(one) if isinstance(one, str) else one for one in cells]
        return cls(made, "baseline" if baseline else kind)


@dataclass(frozen=True)
class Table:
    """Table with everything that readers need to understand it."""

    name: str  # name of the table's files
    title: str
    explanation: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()

    def __post_init__(self):
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"table {self.name}: a row of {len(row.cells)} cells")

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Table":
        """Make the table from a record by `dataclasses.asdict`.  Raises TypeError or KeyError for other records."""
        columns = [Column(**column) for column in record["columns"]]
        rows = [Row([Cell(**cell) for cell in row["cells"]], row["kind"]) for row in record["rows"]]
        return cls(**{**record, "columns": columns, "rows": rows})


def fixed(value: float | None, decimals: int) -> str:
    """Format a number with a fixed count of decimals, never "-0.00"; "" for None."""
    return "" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def signed(value: float | None, decimals: int = 2) -> str:
    """Format a difference with its sign, never "-0.00"; "" for None."""
    return "" if value is None else f"{round(value, decimals) + 0.0:+.{decimals}f}"


def signed_text(text: str) -> str:
    """Return a shown number with a minus sign instead of a hyphen."""
    return text.replace("-", "−")


def three_digits(value: float | None) -> str:
    """Format a number with at least three significant digits: 0.00123, 0.123, 1.23, 12.3, 123, 1234."""
    return "" if value is None else _digits(value, 3)


def shortened(value: float, digits: int = 3) -> str:
    """Format a number for a sentence, with `digits` significant digits but no final zeros: 0.4, 8, 12.3, 1234."""
    text = _digits(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def probability(value: float | None) -> str:
    """Format a p-value with 3 decimals, or with as many as its first digit needs, because none is 0; "" for None."""
    return shortened(value, 1) if value and value < 0.0005 else fixed(value, 3)


def _digits(value: float | Decimal, digits: int) -> str:
    rounded = f"{value:.{digits - 1}e}"  # use the exponent after rounding: 0.9999 becomes 1.00
    exponent = int(rounded.partition("e")[2])
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def delta(text: str, baseline: str, comparison: Comparison) -> str:
    """Compare two shown numbers: "-0.40" or "x0.26"; "" if either is not a finite number.

    The comparison uses the shown, rounded numbers, so that a reader's own subtraction agrees.
    """
    try:
        value, base = Decimal(text), Decimal(baseline)
    except InvalidOperation:
        return ""
    if not (value - base).is_finite():
        return ""
    if comparison == "difference":
        return f"{value - base:+}"
    if comparison == "none" or not base:
        return ""
    ratio = value / base
    if 0 < ratio < Decimal("0.1"):
        return f"x{_digits(ratio, 2)}"
    return f"x{ratio:.{1 if ratio >= 10 else 2}f}"


def score_cells(one: Any, score: float, baseline: float | None) -> list[Cell | str]:
    """Return a score with its difference to the baseline, then the bounds and the p-value of its record."""
    cell = Cell.compared(fixed(score, 2), fixed(baseline, 2), "difference")
    return [cell, fixed(one.low, 2), fixed(one.high, 2), probability(one.p_value)]


def groups(columns: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """Return the headings of the groups, each with the neighbouring columns that share it."""
    runs = groupby(columns, key=lambda one: (one.group, "" if one.title else one.key))
    return [(heading, list(run)) for (heading, _), run in runs]
