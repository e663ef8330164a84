"""Mark for unreliable times, whose rounds differ too much."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from weebill.report.table import Row

LIMIT = 1 / 3  # largest reliable spread of the rounds, as a share of their median
MARK = "~"
NOTE = (
    f"{MARK}: the rounds of this time spread by more than a third of their median; measure it again, on a machine "
    "that does nothing else, before you rely on it."
)


def mark(seconds: Sequence[float] | None) -> str:
    """Return MARK if the rounds of a timing spread too much, otherwise ""."""
    if not seconds:
        return ""
    return MARK * (max(seconds) - min(seconds) > LIMIT * statistics.median(seconds))


def warning(*timings: Any) -> str:
    """Return the words after a ratio of timings if one of them has MARK, otherwise "".

    timings: objects with the `seconds` of their rounds.
    """
    return " (a noisy measurement)" if any(mark(one.seconds) for one in timings) else ""


def summary(timings: Sequence[Any], kind: str) -> list[str]:
    """Return a sentence on the number of timings with MARK, if there are any.  kind: such as "speeds"."""
    marked = sum(bool(mark(one.seconds)) for one in timings)
    told = f"Of {len(timings)} {kind}, {marked} are noisy; the tables mark them with {MARK}."
    return [told] if marked else []


def notes(rows: Iterable[Row]) -> list[str]:
    """Return the note that explains MARK if any cell has it."""
    return [NOTE] if any(cell.mark == MARK for row in rows for cell in row.cells) else []
