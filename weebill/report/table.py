"""Tables as data: columns in groups, cells of text with a difference, and footnotes.

Cells contain finished text, so every format (CSV, Markdown, LaTeX, HTML) shows the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Literal

ABSENT = "–"  # shown in place of a missing counterpart

Comparison = Literal["difference", "ratio", "none"]


@dataclass(frozen=True)
class Cell:
    """Cell of a table: its text as shown, and its delta against the row's baseline; each may be "".

    Both are plain ASCII: a text like "41.10", a delta like "-0.40" (signed difference) or "x0.26" (ratio).
    """

    text: str = ""
    delta: str = ""


@dataclass(frozen=True)
class Column:
    """Column with its heading `group`, which neighbours may share, and its own `title` below, or ""."""

    key: str  # name of the column in CSV
    group: str
    title: str = ""
    numeric: bool = True
    deltas: bool = False  # True if a column of deltas follows in CSV


@dataclass(frozen=True)
class Row:
    """Row of a table; `kind` only affects its appearance."""

    cells: tuple[Cell, ...]
    kind: Literal["plain", "baseline", "absent"] = "plain"


@dataclass(frozen=True)
class Table:
    """Table with everything that a reader needs to understand it alone."""

    name: str  # name of the table's files
    title: str
    explanation: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"table {self.name}: a row of {len(row.cells)} cells")


def fixed(value: float | None, decimals: int) -> str:
    """Format a number with a fixed count of decimals, never "-0.00"; "" for None."""
    return "" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def signed(value: float) -> str:
    """Format a difference with its sign and two decimals, never "-0.00"."""
    return f"{round(value, 2) + 0.0:+.2f}"


def three_digits(value: float | None) -> str:
    """Format a number with at least three significant digits: 0.00123, 0.123, 1.23, 12.3, 123, 1234."""
    if value is None:
        return ""
    rounded = f"{value:.2e}"  # use the exponent after rounding: 0.9999 becomes 1.00
    exponent = int(rounded.partition("e")[2])
    return f"{value:.{max(0, 2 - exponent)}f}"


def delta(text: str, baseline: str, comparison: Comparison) -> str:
    """Compare two shown numbers: "-0.40" or "x0.26"; "" if either is not a number.

    The comparison uses the shown, rounded numbers, so that a reader's own subtraction agrees.
    """
    value, base = parse(text), parse(baseline)
    if comparison == "none" or value is None or base is None:
        return ""
    if comparison == "difference":
        return f"{value - base:+}"
    if not base:
        return ""
    ratio = value / base
    step = (
        Decimal("0.1")
        if ratio >= 10
        else Decimal("0.01")
        if ratio >= Decimal("0.1")
        else Decimal("0.001")
    )
    return f"x{ratio.quantize(step, ROUND_HALF_EVEN)}"


def parse(text: str) -> Decimal | None:
    """Return the number that a cell shows, None if its text is not a number."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def groups(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Return the headings of the groups, each with the count of neighbouring columns that share it."""
    found: list[tuple[str, int]] = []
    for index, column in enumerate(columns):
        if index and column.title and columns[index - 1].title and found[-1][0] == column.group:
            found[-1] = (column.group, found[-1][1] + 1)
        else:
            found.append((column.group, 1))
    return found
