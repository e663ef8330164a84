"""Markdown page of one benchmark or all, with the conditions, and the rows to render it again."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weebill.benchmarks import SMALLER_IS_BETTER
from weebill.benchmarks.survey import Survey
from weebill.errors import InputError
from weebill.files import check_file, write_json, write_text
from weebill.report.rendering import to_markdown
from weebill.report.rows import NAME, made_today
from weebill.report.table import Table

KIND = "benchmark"  # kind of rows; other kinds are the names of an experiment's pages
HEAD = "| claim | ours | other | unit | ours / other | lowest | highest |\n|---|---:|---:|---|---:|---:|---:|\n"
FOOTER = """
---

`weebill publish` renders this page again from its rows; `make stale` tells if the code that made them has changed.
"""


def check_page(file: Path) -> None:
    """Raise InputError or OSError, before the measurements, if `write_page` could not write this page."""
    rows = file.with_suffix("") / NAME
    if rows.parent == file:
        raise InputError(f"--markdown {file}: no name of a page; it ends in .md")
    check_file(file)
    if rows.parent.exists():
        check_file(rows)


def write_page(file: Path, found: Survey, command: str) -> list[Path]:
    """Write the page of a command's measurements, and its rows to a folder of the same name; return both paths."""
    made = made_today(found.signature["commit"], found.signature.get("code", {}))
    rows = {"page": KIND, "made": made, "command": command, "survey": asdict(found)}
    write_json(file.with_suffix("") / NAME, rows)
    return [file.with_suffix("") / NAME, *render(rows, file)]


def render(rows: Mapping[str, Any], file: Path) -> list[Path]:
    """Write the page of some rows; return its path.  Raises InputError if the rows are not from benchmarks."""
    try:
        text = page(Survey(**rows["survey"]), rows["command"])
    except (KeyError, TypeError) as error:
        message = f"{file.with_suffix('') / NAME}: rows of another version ({error}); measure again"
        raise InputError(message) from error
    write_text(file, text + FOOTER)
    return [file]


def page(survey: Survey, command: str = "weebill benchmark all") -> str:
    """Return the page of a command's figures; benchmarks that could not run, or failed, have the reason."""
    names = _names(survey)
    parts = [f"## weebill benchmark {name}\n\n{_tables(survey, name)}" for name in names]
    missing = {**survey.not_run, **survey.failed}
    if missing:
        reasons = "".join(f"- `{name}`: {reason}\n" for name, reason in missing.items())
        parts.append(f"## Not measured\n\n{reasons}")
    signature = survey.signature
    versions = ", ".join(f"{name} {one}" for name, one in sorted(signature["versions"].items()))
    title = f"Benchmark: {names[0]}" if len(names) == 1 else "Speed: every benchmark, small"
    rounds = f"; {survey.rounds} rounds" if survey.rows else ""
    return (
        f"# {title}\n\n{_explained(survey, command)}\n\n"
        f"{signature['hardware']}; {versions}; commit `{(signature['commit'] or 'unknown')[:12]}`{rounds}.\n\n"
        + "\n".join(parts)
    )


def _names(survey: Survey) -> list[str]:
    return list(dict.fromkeys(one["benchmark"] for one in (*survey.rows, *survey.tables)))


def _explained(survey: Survey, command: str) -> str:
    if not survey.rows:
        return f"`{command}` made these tables."
    return (
        f"`{command}` measured these figures: each speed of ours and of an opponent on the same work, in "
        "turn on the same core, and the ratio's lowest and highest round. "
        f"Of {', '.join(SMALLER_IS_BETTER)}, less is better; of all others, more."
    )


def _tables(survey: Survey, name: str) -> str:
    """Return the tables of a benchmark: its own tables, then the table of its rows."""
    own = (one["table"] for one in _of(survey.tables, name))
    shown = [f"### {one.title}\n\n{to_markdown(one)}" for one in map(Table.from_dict, own)]
    if rows := "".join(map(_row, _of(survey.rows, name))):
        shown.append(("### Speeds\n\n" if shown else "") + HEAD + rows)
    return "\n".join(shown)


def _of(found: Iterable[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    return [one for one in found if one["benchmark"] == name]


def _row(row: Mapping[str, Any]) -> str:
    ratios = (f"{row[key]:.2f}" for key in ("ratio", "lowest", "highest"))
    cells = (row["claim"], number(row["ours"]), number(row["other"]), row["unit"], *ratios)
    return f"| {' | '.join(cells)} |\n"


def number(value: float) -> str:
    """Format a figure for readers: 12,345 or 12.34."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
