"""Records of whole rehearsals, and the page that shows them: docs/papers/rehearsals.md.

`python -m weebill.rehearsal.record [RECORD …]` copies records to docs/results/rehearsals/, and writes the page of all
that are there.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weebill.files import read_json, write_json, write_text
from weebill.report.results import read_csv
from weebill.report.rows import CODE, code_of_modules
from weebill.workflow.repository import commit

NAME = "rehearsal.json"  # in the folder of results
FOLDER, PAGE = Path("docs/results/rehearsals"), Path("docs/papers/rehearsals.md")
OURS = "_ours"  # ending of the keys of our columns in tables beside the papers'
HEAD = """# Rehearsals

Each experiment of the four papers as a miniature of itself: the same rules, one variant for each combination of
method, precision and kind of architecture, small models, stand-in text, and some dozens of updates. What runs on a
GPU ran with the same code and kinds of numbers on processor cores. The numbers of the reports mean nothing, but
each report came out whole. `make rehearse-all` makes such runs; `python -m weebill.rehearsal.record
results/*/rehearsal.json` writes this page. A column of ours is filled if one row has a value there. Experiments that
translate also write the other translation paper's tables, without the columns for test sets that they do not have.
"""
COLUMNS = (
    *("experiment", "rules", "in the miniature", "jobs", "in the miniature", "minutes"),
    *("tables beside the paper", "our columns filled", "figures", "made by"),
)


def record(
    config: Path, results: Path, jobs: Iterable[Mapping[str, int]], seconds: float
) -> dict[str, Any]:
    """Return the record of a finished rehearsal.  jobs: jobs by rule, of the whole run and of the miniature."""
    whole, small = jobs
    code = {name: one for name, one in read_json(results / CODE).items() if name in small}
    return {
        "configuration": config.as_posix(),
        "commit": commit(),
        "code": code | code_of_modules(rehearse="weebill.rehearsal.preparing"),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "minutes": round(seconds / 60, 1),
        "rules": {name: [whole.get(name, 0), small.get(name, 0)] for name in {**whole, **small}},
        "tables": dict(sorted(_tables(results / "tables"))),
        "figures": sorted(path.stem for path in (results / "figures").rglob("*.svg")),
        "report_bytes": (results / "report.html").stat().st_size,
    }


def _tables(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each table beside a paper's: its rows, rows of ours, columns of ours, and those without any value."""
    for path in folder.rglob("*.csv"):
        rows = read_csv([path])
        columns = [key for key in (rows[0] if rows else ()) if key.endswith(OURS)]
        if columns:
            filled = [any(row[key] for key in columns) for row in rows]
            empty = [key for key in columns if not any(row[key] for row in rows)]
            name = path.relative_to(folder).with_suffix("").as_posix()
            numbers = {"rows": len(rows), "ours": sum(filled), "columns": len(columns)}
            yield name, {**numbers, "empty": empty}


def page(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the page of some records, as Markdown."""
    records = list(records)
    marks = ["---", *["---:"] * (len(COLUMNS) - 2), "---"]
    lines = [HEAD, *map(_line, (COLUMNS, marks, *map(_cells, records))), *map(_details, records)]
    return "\n".join(lines) + "\n"


def _cells(one: Mapping[str, Any]) -> list[Any]:
    rules, tables = one["rules"].values(), one["tables"].values()
    columns, empty = sum(t["columns"] for t in tables), sum(len(t["empty"]) for t in tables)
    return [
        f"`{one['configuration']}`",
        *(sum(bool(counts[side]) for counts in rules) for side in (0, 1)),
        *(f"{sum(counts[side] for counts in rules):,}" for side in (0, 1)),
        *(one["minutes"], len(tables), f"{columns - empty} of {columns}", len(one["figures"])),
        f"`{str(one['commit'])[:12]}`, {one['date']}",
    ]


def _line(cells: Iterable[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _details(one: Mapping[str, Any]) -> str:
    lines = [
        f"\n## {one['configuration']}\n",
        "| rule | jobs | in the miniature |",
        "| --- | ---: | ---: |",
    ]
    lines += [
        f"| `{name}` | {whole:,} | {small:,} |" for name, (whole, small) in one["rules"].items()
    ]
    lines += [
        "",
        "| table | rows | with ours | our columns without a value |",
        "| --- | ---: | ---: | --- |",
    ]
    for name, table in one["tables"].items():
        empty = ", ".join(f"`{key}`" for key in table["empty"]) or "none"
        lines.append(f"| {name} | {table['rows']} | {table['ours']} | {empty} |")
    return "\n".join(lines)


def main(*records: str) -> None:
    """Copy records, and write the page."""
    for path in map(Path, records):
        write_json(FOLDER / f"{path.parent.name}.json", read_json(path))
    found = [read_json(path) for path in sorted(FOLDER.glob("*.json"))]
    write_text(PAGE, page(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
