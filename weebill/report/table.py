"""Tables as data: columns in groups, cells of text with a difference beside, footnotes.

What a cell shows is decided once, here; every format (CSV, Markdown, LaTeX, HTML) writes the same text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Literal

ABSENT = "–"  # shown where there is no counterpart

Comparison = Literal["difference", "ratio", "none"]


@dataclass(frozen=True)
class Cell:
    """text: as shown, "" where there is none.  delta: against the row's baseline, "" where there is none.

    Both are in plain ASCII: "41.10", "-0.40" (a difference, signed) or "x0.26" (a ratio).
    """

    text: str = ""
    delta: str = ""


@dataclass(frozen=True)
class Column:
    """A column: `group` is its heading, which neighbours may share; `title` its own below, or ""."""

    key: str  # in CSV
    group: str
    title: str = ""
    numeric: bool = True
    deltas: bool = False  # whether CSV has a column of deltas beside


@dataclass(frozen=True)
class Row:
    """One line; `kind` says how much of it there is, for the eye only."""

    cells: tuple[Cell, ...]
    kind: Literal["plain", "baseline", "absent"] = "plain"


@dataclass(frozen=True)
class Table:
    """A table with all that a reader needs to understand it alone."""

    name: str  # of its files
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
    """A number with a fixed count of decimals, never "-0.00"; "" for None."""
    return "" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def signed(value: float) -> str:
    """A difference with its sign and two decimals, never "-0.00"."""
    return f"{round(value, 2) + 0.0:+.2f}"


def three_digits(value: float | None) -> str:
    """A number with at least three digits that count: 0.00123, 0.123, 1.23, 12.3, 123, 1234."""
    if value is None:
        return ""
    rounded = f"{value:.2e}"  # whose exponent counts: 0.9999 shows as 1.00
    exponent = int(rounded.partition("e")[2])
    return f"{value:.{max(0, 2 - exponent)}f}"


def delta(text: str, baseline: str, comparison: Comparison) -> str:
    """The comparison of two shown numbers: "-0.40" or "x0.26"; "" where either is none.

    It is computed from what is shown, so that a reader's own subtraction agrees.
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
    """The number shown in a cell, None where it is empty or no number."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def groups(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Headings of the groups with the count of neighbouring columns that share each."""
    found: list[tuple[str, int]] = []
    for index, column in enumerate(columns):
        if index and column.title and columns[index - 1].title and found[-1][0] == column.group:
            found[-1] = (column.group, found[-1][1] + 1)
        else:
            found.append((column.group, 1))
    return found
