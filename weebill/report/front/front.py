"""Plain data of a report's first page, shared by the report and the Markdown pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weebill.report.costs import Job, hours
from weebill.report.table import Table, delta, fixed, three_digits

EXAMPLES = 10  # on the first page


@dataclass(frozen=True)
class Example:
    """Text of a test set with the outputs of the models; rows: (author, text)."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Front:
    """First page: title, setting (key, value), the verdict's sentences, the table, and the file of a figure or ""."""

    title: str
    setting: Sequence[tuple[str, str]]
    verdict: Sequence[str]
    table: Table
    figure: str = ""


def rehearsed(config: Mapping[str, Any]) -> list[str]:
    """Return the paragraph that marks the results of a miniature; an empty list for a real experiment."""
    name = config.get("rehearses")
    if name is None:
        return []
    return [
        f"**Rehearsed.** This is a miniature of the experiment {name}, with stand-in text and tiny models that "
        "hardly learn (`weebill rehearse`): it shows that every rule runs, and its numbers mean nothing."
    ]


def told_hours(value: float) -> str:
    """Return hours in words: "1.25 hours" or, if they are less, "2.4 minutes" or "12 seconds"."""
    if value < 1 / 60:
        return f"{3600 * value:.0f} seconds"
    if value < 1:
        return f"{60 * value:.1f} minutes"
    return f"{three_digits(value)} hours"


def hours_cell(value: float | None) -> str:
    """Format the hours of a step for a table; "" if no job made it."""
    return "" if value is None else fixed(value, 3 if value < 1 else 1)


def cost_sentence(jobs: Sequence[Job], stages: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return a sentence on the hours of all jobs and of the jobs of each stage, the costliest first.

    stages: (name, rules).
    """
    if not jobs:
        return ""
    costs = {name: hours(jobs, rules) for name, rules in stages}
    known = sorted(((v, n) for n, v in costs.items() if v is not None), reverse=True)
    whole = hours(jobs, {job.rule for job in jobs})
    unit, factor = ("minutes", 60) if whole < 1 else ("hours", 1)
    parts = ", ".join(f"{name.lower()} {factor * value:.1f}" for value, name in known[:5])
    listed = f" ({parts})" if parts else ""
    return f"The run times of all jobs add up to {factor * whole:.1f} {unit}{listed}."


def times(more: str, less: str) -> str:
    """Return the ratio of two numbers as shown, so that a reader's own division agrees; "" if one is missing."""
    return delta(more, less, "ratio").removeprefix("x")


def spread(count: int) -> list[int]:
    """Return evenly spaced places of the examples out of `count`, or all places if there are fewer."""
    wanted = min(count, EXAMPLES)
    return [int((2 * n + 1) * count / (2 * wanted)) for n in range(wanted)]
