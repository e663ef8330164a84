"""Render the published pages of docs/results again from their rows, or list those that are older than their code.

`weebill run CONFIG publish` collects the rows of a finished experiment and renders its page, which you commit:
docs/results/NAME.md and docs/results/NAME/.  The target docs/results/NAME/TABLE.md publishes one table in this way,
and `weebill benchmark NAME --markdown FILE` a benchmark.  After a change of a page's design, `weebill publish`
renders all pages again without any model.  Only a run can measure again; --stale lists the pages that need one, and
the records of benchmarks, rehearsals and other trials.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weebill publish`."""
    pages = "docs/results/NAME.md; by default all pages"
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help=pages)
    stale = "tell of each page and record (*.json) if its code has changed; write nothing"
    parser.add_argument("--stale", action="store_true", help=stale)


def run(arguments: argparse.Namespace) -> int:
    """Render or list pages.  Raises InputError if a page has no rows, or rows that cannot be read."""
    from weebill.errors import InputError
    from weebill.report.rows import NAME, age, read_rows

    folder = Path("docs/results")
    with_rows = (f"{rows.parent}.md" for rows in folder.rglob(NAME))
    pages = arguments.pages or sorted({*folder.rglob("*.md"), *map(Path, with_rows)})
    if not pages:
        raise InputError("docs/results/*.md: no such page; call this in the folder of the project")
    if arguments.stale:
        records = () if arguments.pages else sorted(folder.rglob("*.json"))
        for file in (*pages, *(record for record in records if record.name != NAME)):
            print(f"{file}: {age(file)}")
        return 0
    for page in pages:
        if rows := read_rows(page):
            print(*rendered(rows, page), sep="\n")
        elif arguments.pages:
            file = page.with_suffix("") / NAME
            raise InputError(f"{file}: no such rows; run the experiment and publish it")
    return 0


def rendered(rows: Mapping[str, Any], page: Path) -> list[Path]:
    """Render a page of an experiment or of benchmarks; return all written paths."""
    from weebill.benchmarks.page import KIND
    from weebill.benchmarks.page import render as render_benchmarks
    from weebill.report.published import render

    return (render_benchmarks if rows["page"] == KIND else render)(rows, page)
