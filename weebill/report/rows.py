"""Rows of a published page: all data that the page and its pictures read, copied into one JSON file.

The data are measurements, run times and the configuration, or one table, and fingerprints of the code that made them.
`published.render` makes the page from them again, without any model.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weebill.errors import InputError
from weebill.files import read_json, write_json, write_text
from weebill.report.costs import read_jobs
from weebill.workflow.code_version import code_of, code_of_all, code_of_module
from weebill.workflow.lineage import provenance
from weebill.workflow.repository import commit

NAME = "rows.json"  # in the folder of a page's pictures
CODE = "code.json"  # in the folder of results: fingerprints of all rules of the newest run
TABLE = "table"  # kind of rows; other kinds are the names of an experiment's pages
Code = dict[str, dict[str, Any]]  # fingerprints, each with the `script` or `module` that it is of


def collect(
    page: str,
    config: Mapping[str, Any],
    files: Mapping[str, Sequence[str]],
    benchmarks: str | Path,
    rules: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the rows of a page: the data for `published.render`, and fingerprints of the code that measured.

    page: name of a page in the catalogue.  files: as for `Results.read`, for the page and its pictures.
    benchmarks: folder of Snakemake's benchmarks.  rules: script and chosen modules, by name of the rule's benchmark.
    """
    jobs = read_jobs(benchmarks)
    ran = {job.rule for job in jobs}
    code = code_of_rules({name: script for name, script in rules.items() if name in ran})
    return {
        "page": page,
        "made": made_today(commit(), code),
        "config": config,
        "jobs": [[job.rule, job.name, job.seconds, job.mib] for job in jobs],
        "files": {name: {path: _content(path) for path in paths} for name, paths in files.items()},
    }


def collect_table(path: str | Path, rules: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the rows of a page with one table: its data, and fingerprints of the code behind it.

    path: the table as JSON, which a job of the workflow made.  rules: script and chosen modules, by name of the rule.
    """
    behind = {job.rule for job in provenance(path).jobs}
    code = code_of_rules({name: script for name, script in rules.items() if name in behind})
    return {"page": TABLE, "made": made_today(commit(), code), "table": read_json(path)}


def code_of_rules(rules: Mapping[str, Sequence[str]]) -> Code:
    """Return the fingerprint of each rule's code.  rules: script and chosen modules, by name of the rule."""
    return {name: {"script": [*script], "code": code_of(*script)} for name, script in rules.items()}


def code_of_modules(**modules: str) -> Code:
    """Return the fingerprint of each module and all that it imports.  modules: by the name that `stale` tells."""
    return {name: {"module": one, "code": code_of_module(one)} for name, one in modules.items()}


def made_today(version: str | None, code: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry `made` of rows.  version: the commit.  code: fingerprints of the code that made them."""
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": version, "code": code}


def read_rows(page: Path) -> dict[str, Any] | None:
    """Read the rows of a page; return None if it has none.  Raises InputError if the file holds anything else."""
    path = page.with_suffix("") / NAME
    if not path.is_file():
        return None
    rows = read_json(path)
    made = rows.get("made") if isinstance(rows, dict) else None
    if not isinstance(made, dict) or not {*rows, *made} >= {"page", "date", "commit", "code"}:
        raise InputError(f"{path}: not the rows of a page; publish it again")
    return rows


def age(file: Path) -> str:
    """Return a sentence on a page, or on a JSON record: if it is older than the code that made it, and which version.

    Raises InputError for rows that cannot be read.
    """
    if file.suffix == ".json":
        record = read_json(file)
        made = {**record, **record.get("signature", {})} if isinstance(record, dict) else {}
        lack = "has no fingerprint of its code"
    else:
        made, lack = (read_rows(file) or {}).get("made", {}), "has no rows"
    if "code" not in made:
        return f"{lack}; only a run makes it anew"
    changed = changed_code(made["code"])
    told = f"older than the code of {', '.join(changed)}" if changed else "measured by today's code"
    version = (made.get("commit") or "unknown")[:12]
    return f"{told} (commit {version}{', ' + made['date'] if 'date' in made else ''})"


def changed_code(code: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the names of rules, benchmarks or other parts whose code has changed since these fingerprints."""
    return sorted(name for name, one in code.items() if _code_now(one) != one["code"])


def _code_now(one: Mapping[str, Any]) -> str | None:
    """Return the fingerprint of a rule's `script` or of a `module`; without both, that of all code."""
    try:
        if "module" in one:
            return code_of_module(one["module"])
        return code_of(*one["script"]) if "script" in one else code_of_all()
    except (InputError, OSError, KeyError, ValueError):  # the script or a module is gone
        return None


def _content(path: str | Path) -> Any:
    """Return, as JSON, the content of a file or model folder that readers need."""
    path = Path(path)
    if path.is_dir():
        course = read_json(path / "config.json")["lineage"]["course"]
        return {"config.json": {"lineage": {"course": {"history": course["history"]}}}}
    return read_json(path) if path.suffix == ".json" else path.read_text(encoding="utf-8")


def restored(files: Mapping[str, Mapping[str, Any]], place: Path) -> dict[str, list[str]]:
    """Write the contents of files below `place`; return their paths there, by field.

    Raises InputError for a path outside `place`.
    """
    paths: dict[str, list[str]] = {}
    for name, contents in files.items():
        if outside := [path for path in contents if ".." in Path(path).parts]:
            raise InputError(
                f"rows of {outside[0]}, a path that leads elsewhere; publish them again"
            )
        paths[name] = [str(place / path.lstrip("/")) for path in contents]
        for path, content in zip(map(Path, paths[name]), contents.values(), strict=True):
            if path.suffix == ".json":
                write_json(path, content)
            elif isinstance(content, dict):  # a model's folder
                write_json(path / "config.json", content["config.json"])
            else:
                write_text(path, content)
    return paths
