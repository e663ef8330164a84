"""Print the lineage of a result: sources with checksums, counts of rows, models and seeds, jobs and their code.

A result is anything that the workflow made: a table, a figure, a model, a corpus, or a file in one of them.
"""

import argparse
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weebill.errors import InputError
from weebill.files import content_hash, read_json
from weebill.workflow.lineage import Provenance, provenance

LOCK = "sources.lock.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT", help="file or folder below results/EXPERIMENT")
    parser.add_argument("--json", action="store_true", help="print JSON, with all parameters")


def run(arguments: argparse.Namespace) -> int:
    """Print the lineage.  Raises InputError if no record mentions the result."""
    found = lineage(arguments.result)
    print(json.dumps(found, indent=2, ensure_ascii=False) if arguments.json else _text(found))
    return 0


def lineage(result: str | Path) -> dict[str, Any]:
    """Return the lineage as plain values.  Raises the InputErrors of `provenance`."""
    known = provenance(result)
    files = {name: known.folder / name for name in known.sources}
    paths = [output for job in known.jobs for output in job.outputs]
    return {
        "result": known.result,
        "sha256": content_hash(known.folder / known.result),
        **_configuration(known),
        "sources": _sources(known),
        "files": {name: content_hash(p) if p.exists() else None for name, p in files.items()},
        "texts": {name: counts for name in paths if (counts := _rows(known.folder / name))},
        "models": {name: made for name in paths if (made := _model(known.folder / name))},
        "jobs": [
            {
                "rule": job.rule,
                "outputs": job.outputs,
                "ended": f"{datetime.fromtimestamp(job.ended, UTC):%Y-%m-%d %H:%M:%S} UTC",
                "seconds": round(job.ended - job.started, 2),
                "code": job.code,
                "parameters": list(job.parameters),
            }
            for job in known.jobs
        ],
    }


def _configuration(known: Provenance) -> dict[str, Any]:
    path = Path(*Path(known.result).parts[:2], "configuration.json")
    if not (known.folder / path).is_file():
        return {}
    config = _read(known.folder / path, _is_configuration)
    return {
        "experiment": config["experiment"],
        "seed": config["seed"],
        "configuration": {"path": path.as_posix(), "sha256": content_hash(known.folder / path)},
    }


def _sources(known: Provenance) -> dict[str, list[dict[str, Any]]]:
    """Return the lock file's records of the origins of imported texts, by keys of the configuration."""
    found = {}
    for job in known.jobs:
        if not job.entries:
            continue
        name = Path(job.outputs[0])
        corpus, test_set = f"corpora.{name.parent.name}", f"test_sets.{name.stem}"
        wanted = {"import_corpus": corpus, "import_test_set": test_set}.get(job.rule, "validation")
        paths = [known.folder / path for path in job.inputs if Path(path).name == LOCK]
        records = [
            record
            for path in paths
            if path.exists()
            for place, several in _read(path, _is_lock)["sources"].items()
            if place == wanted or (wanted == "validation" and place.startswith(wanted))
            for record in several
        ]
        found[wanted] = records or job.entries  # the entry itself if it has no file
    return found


def _rows(path: Path) -> dict[str, int] | None:
    """Count all rows and the kept rows of a table; return None if it is not a table, or was temporary."""
    if not ((path.is_file() and path.suffix == ".parquet") or list(path.glob("part-*.parquet"))):
        return None
    from weebill.corpus.table import count_rows  # loads Arrow

    return {"rows": count_rows(path, kept=False), "kept": count_rows(path)}


def _model(path: Path) -> dict[str, Any] | None:
    if not any(path.glob("*.safetensors")) or not (path / "config.json").is_file():
        return None
    config = _read(path / "config.json", _is_model)
    made = config.get("lineage", {})
    return {"sha256": content_hash(path), "parameters": config.get("parameters"), **made}


def _read(path: Path, is_sound: Callable[[Any], bool]) -> Any:
    """Read a JSON file that a job wrote.  Raises InputError if it is not in the jobs' format."""
    found = read_json(path)
    if not is_sound(found):
        raise InputError(
            f"{path}: not what Weebill wrote there; make it again, or use the version that wrote it"
        )
    return found


def _is_configuration(found: Any) -> bool:
    return isinstance(found, dict) and found.keys() >= {"experiment", "seed"}


def _is_lock(found: Any) -> bool:
    sources = found.get("sources") if isinstance(found, dict) else None
    return isinstance(sources, dict) and all(
        isinstance(several, list) and all(isinstance(record, dict) for record in several)
        for several in sources.values()
    )


def _is_model(found: Any) -> bool:
    made = found.get("lineage", {}) if isinstance(found, dict) else None
    if not isinstance(made, dict) or not isinstance(made.get("versions", {}), dict):
        return False
    course = made.get("course", {"updates": 0})
    updates = course.get("updates") if isinstance(course, dict) else None
    return isinstance(updates, int) and isinstance(made.get("kind", ""), str)


def _text(found: dict[str, Any]) -> str:
    last = found["jobs"][0]
    made = f"  made {last['ended']} by {last['rule']}"
    lines = [found["result"], f"  sha256 {found['sha256']}", made]
    if "configuration" in found:
        place = found["configuration"]
        lines.append(f"  experiment {found['experiment']}, seed {found['seed']}")
        lines.append(f"  configuration of its newest run {place['path']}, sha256 {place['sha256']}")
    sections = {
        "sources": [
            f"{key}  " + ", ".join(f"{name} {value}" for name, value in record.items())
            for key, records in found["sources"].items()
            for record in records
        ],
        "files": [f"{name}  sha256 {sha}" for name, sha in found["files"].items()],
        "models": [_model_line(*item) for item in found["models"].items()],
        "texts": [_rows_line(*item) for item in found["texts"].items()],
        "jobs, the last first": _job_lines(found["jobs"]),
    }
    for title, shown in sections.items():
        lines += ["", title, *(f"  {line}" for line in shown)] if shown else []
    return "\n".join(lines)


def _model_line(name: str, made: dict[str, Any]) -> str:
    parts = [made.get("kind", "model"), f"sha256 {made['sha256']}"]
    if "seed" in made:
        parts.append(f"seed {made['seed']}")
    if "course" in made:
        parts.append(f"{made['course']['updates']:,} updates")
    parts += [f"{name} {version}" for name, version in made.get("versions", {}).items()]
    return f"{name}  {', '.join(parts)}"


def _rows_line(name: str, counts: dict[str, int]) -> str:
    kept = "" if counts["kept"] == counts["rows"] else f", {counts['kept']:,} kept"
    return f"{name}  {counts['rows']:,} rows{kept}"


def _job_lines(jobs: list[dict[str, Any]]) -> list[str]:
    """Return one line for all jobs of a rule with the same version of the code, with the time of the last job."""
    groups: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for job in jobs:
        groups.setdefault((job["rule"], job["code"]), []).append(job)
    lines = []
    for (rule, code), several in groups.items():
        seconds = sum(job["seconds"] for job in several)
        count = f"{len(several)} jobs" if len(several) > 1 else "1 job"
        version = f", code {code}" if code else ""
        lines.append(f"{several[0]['ended']}  {rule}  {count}, {seconds:,.1f} s{version}")
    return lines
