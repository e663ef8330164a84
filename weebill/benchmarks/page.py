"""Page of Markdown of one benchmark or all: a table for each, with its conditions."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from weebill.benchmarks import SMALLER_IS_BETTER
from weebill.benchmarks.survey import Survey

HEAD = "| claim | ours | other | unit | ours / other | lowest | highest |\n|---|---:|---:|---|---:|---:|---:|\n"


def page(survey: Survey, command: str = "weebill benchmark all") -> str:
    """Return the page of some figures that a command measured; what could not run, or failed, has its reason."""
    tables = [
        f"## weebill benchmark {name}\n\n{HEAD}{''.join(map(_row, rows))}"
        for name, rows in groupby(survey.rows, key=lambda row: row["benchmark"])
    ]
    missing = {**survey.not_run, **survey.failed}
    if missing:
        reasons = "".join(f"- `{name}`: {reason}\n" for name, reason in missing.items())
        tables.append(f"## Not measured\n\n{reasons}")
    signature = survey.signature
    versions = ", ".join(f"{name} {one}" for name, one in signature["versions"].items())
    names = {row["benchmark"] for row in survey.rows}
    title = names.pop() if len(names) == 1 else "every benchmark, small"
    return (
        f"# Speed: {title}\n\n"
        f"`{command}` measured these figures: each speed of ours and of an opponent on the same work, in "
        "turn on the same core, and the ratio's lowest and highest round. "
        f"Of {', '.join(SMALLER_IS_BETTER)}, less is better; of all others, more.\n\n"
        f"{signature['hardware']}; {versions}; commit `{(signature['commit'] or 'unknown')[:12]}`; "
        f"{survey.rounds} rounds.\n\n" + "\n".join(tables)
    )


def _row(row: Mapping[str, Any]) -> str:
    ratios = (f"{row[key]:.2f}" for key in ("ratio", "lowest", "highest"))
    cells = (row["claim"], number(row["ours"]), number(row["other"]), row["unit"], *ratios)
    return f"| {' | '.join(cells)} |\n"


def number(value: float) -> str:
    """Return a figure as a reader wants it: 12,345 or 12.34."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
