"""Published pages: the measured rows of an experiment, from which a page is rendered again without any model.

`collect` copies into one JSON file what a page and its pictures read: measurements, run times, the configuration, and
which code made them.  `render` writes the page and its pictures from that file.
"""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weebill.errors import InputError
from weebill.files import atomic_path, read_json, write_json, write_text
from weebill.report.catalogue import Page, maker, makers, pages
from weebill.report.costs import Job, read_jobs
from weebill.report.figures.alt_text import picture
from weebill.report.results import Results
from weebill.workflow.code_version import code_of
from weebill.workflow.repository import commit

NAME = "rows.json"  # in the folder of a page's pictures
FOOTER = """
---

Measured by commit `{commit}`, published on {date}. `weebill publish` renders this page again from its rows, and
`make stale` tells if the code that made them has changed since.
"""


def collect(
    page: str,
    config: Mapping[str, Any],
    files: Mapping[str, Sequence[str]],
    benchmarks: str | Path,
    rules: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the rows of a page: all that `render` needs, and the fingerprints of the code that measured.

    page: name of a page in the catalogue.  files: those of `Results.read`, for the page and its pictures.
    benchmarks: folder of Snakemake's benchmarks.  rules: script and modules that it chose, by the rule's benchmark.
    """
    jobs = read_jobs(benchmarks)
    ran = {job.rule for job in jobs}
    code = {
        name: {"script": [*script], "code": code_of(*script)}
        for name, script in rules.items()
        if name in ran
    }
    return {
        "page": page,
        "made": {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit(), "code": code},
        "config": config,
        "jobs": [[job.rule, job.name, job.seconds, job.mib] for job in jobs],
        "files": {name: {path: _content(path) for path in paths} for name, paths in files.items()},
    }


def render(rows: Mapping[str, Any], target: Path) -> list[Path]:
    """Write the page of some rows to `target`, and its pictures to the folder of its name; return all paths.

    Raises InputError if the catalogue has no such page any more, or a row is not what its reader expects.
    """
    config, folder = rows["config"], target.with_suffix("")
    page = _page_of(rows)
    with tempfile.TemporaryDirectory() as place:
        try:
            results = Results.read(config, _restored(rows["files"], Path(place)))
        except (TypeError, KeyError, ValueError) as error:
            message = (
                f"{folder / NAME}: rows of another version ({error}); publish the experiment again"
            )
            raise InputError(message) from error
        shown, written = {}, []
        make = makers("figures", config["kind"])
        for file, heading in (page.pictures or {}).items():
            picture_file = folder / f"{Path(file).name}.svg"
            _draw(make[file](results), Path(place), picture_file)
            shown[heading] = picture(f"{folder.name}/{picture_file.name}", picture_file)
            written.append(picture_file)
        jobs = [Job(*job) for job in rows["jobs"]]
        text = maker("pages", page.make)(results, jobs, shown)
    write_text(target, text + FOOTER.format(**rows["made"]))
    return [*written, target]


def changed_rules(rows: Mapping[str, Any]) -> list[str]:
    """Return the rules, by their benchmarks' names, whose code is no longer that which made some rows."""
    return sorted(
        name
        for name, one in rows["made"]["code"].items()
        if _code_now(one["script"]) != one["code"]
    )


def _code_now(script: Sequence[str]) -> str | None:
    try:
        return code_of(*script)
    except (InputError, OSError, KeyError, ValueError):  # the script or a module is gone
        return None


def _page_of(rows: Mapping[str, Any]) -> Page:
    for page in pages(rows["config"], [*rows["files"]]):
        if page.file == rows["page"]:
            return page
    raise InputError(f"no page '{rows['page']}' can be made of these rows; publish it again")


def _content(path: str | Path) -> Any:
    """Return what a reader reads of a file, or of a model's folder, as JSON."""
    path = Path(path)
    if path.is_dir():
        course = read_json(path / "config.json")["lineage"]["course"]
        return {"config.json": {"lineage": {"course": {"history": course["history"]}}}}
    return read_json(path) if path.suffix == ".json" else path.read_text(encoding="utf-8")


def _restored(files: Mapping[str, Mapping[str, Any]], place: Path) -> dict[str, list[str]]:
    """Write the contents of files below `place`; return their paths there, by field."""
    paths: dict[str, list[str]] = {}
    for name, contents in files.items():
        paths[name] = [str(place / path.lstrip("/")) for path in contents]
        for path, content in zip(map(Path, paths[name]), contents.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, dict) and path.suffix != ".json":  # a model's folder
                path.mkdir(exist_ok=True)
                write_json(path / "config.json", content["config.json"])
            elif path.suffix == ".json":
                write_json(path, content)
            else:
                write_text(path, content)
    return paths


def _draw(chart: Any, place: Path, target: Path) -> None:
    """Draw a picture as SVG; of the formats that `save` writes, a page needs no other."""
    from weebill.report.figures.drawing import save

    save(chart, place, "picture")
    with atomic_path(target) as partial:
        shutil.copyfile(place / "picture.svg", partial)
