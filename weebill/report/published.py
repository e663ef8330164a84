"""Published pages: a page of an experiment with its pictures, or one table, rendered only from stored rows."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weebill.errors import InputError
from weebill.files import write_text
from weebill.report.catalogue import Page, maker, makers, pages
from weebill.report.costs import Job
from weebill.report.figures.alt_text import picture
from weebill.report.figures.drawing import svg_of
from weebill.report.rendering import to_markdown
from weebill.report.results import Results
from weebill.report.rows import NAME, TABLE, restored
from weebill.report.table import Table

FOOTER = """
---

Measured by commit `{commit}`, published on {date}.
`weebill publish` renders this page again from its rows; `make stale` tells if the code that made them has changed.
"""


def render(rows: Mapping[str, Any], target: Path) -> list[Path]:
    """Write the page of some rows to `target`, and its pictures to a folder of the same name; return all paths.

    Raises InputError if the catalogue no longer has this page, or the rows are of another version.
    """
    folder = target.with_suffix("")
    with tempfile.TemporaryDirectory() as place:
        try:
            return _render(rows, target, folder, Path(place))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            fault = f"rows of another version ({type(error).__name__}: {error})"
            raise InputError(f"{folder / NAME}: {fault}; publish the experiment again") from error


def _render(rows: Mapping[str, Any], target: Path, folder: Path, place: Path) -> list[Path]:
    made, shown, written = rows["made"], {}, []
    footer = FOOTER.format(date=made["date"], commit=made["commit"] or "unknown")
    if rows["page"] == TABLE:
        table = Table.from_dict(rows["table"])
        write_text(target, f"# {table.title}\n\n{to_markdown(table)}{footer}")
        return [target]
    config, page = rows["config"], _page_of(rows, folder)
    results = Results.read(config, restored(rows["files"], place))
    make = makers("figures", config["kind"])
    for file, heading in (page.pictures or {}).items():
        picture_file = folder / f"{Path(file).name}.svg"
        write_text(picture_file, svg_of(make[file](results)))
        shown[heading] = picture(f"{folder.name}/{picture_file.name}", picture_file)
        written.append(picture_file)
    jobs = [Job(*job) for job in rows["jobs"]]
    text = maker("pages", page.make)(results, jobs, shown)
    write_text(target, text + footer)
    return [*written, target]


def _page_of(rows: Mapping[str, Any], folder: Path) -> Page:
    for page in pages(rows["config"], [*rows["files"]]):
        if page.file == rows["page"]:
            return page
    raise InputError(
        f"{folder / NAME}: no page '{rows['page']}' can be made of these rows; publish it again"
    )
