"""Lineage of a result: the recorded jobs behind it, back to the sources.

Snakemake records every output, also temporary ones, in `.snakemake/metadata` of its working folder: rule, inputs,
parameters, times.  A job's parameter `code` is the version of the library code that it used.
"""

import ast
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weebill.errors import InputError
from weebill.files import read_json
from weebill.workflow.code_version import PREFIX

RECORDS = ".snakemake/metadata"
YEAR_10_000 = 253_402_300_800  # seconds since 1970; years of dates have four digits
# Fields of a record that are read, with checks of their values; a job that never ended has no times.
FIELDS: dict[str, Callable[[Any], bool]] = {
    "rule": lambda value: isinstance(value, str),
    **dict.fromkeys(
        ("input", "params", "log"),
        lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    ),
    **dict.fromkeys(
        ("starttime", "endtime"),
        lambda value: type(value) in (int, float) and 0 <= value < YEAR_10_000,
    ),
}
CODE = re.compile(rf"{PREFIX}[0-9a-f]{{16}}")


@dataclass(frozen=True)
class Job:
    """Job of a workflow; paths are relative to the folder that it ran in, times are seconds since 1970."""

    rule: str
    inputs: tuple[str, ...]
    parameters: tuple[Any, ...]  # values; names are not recorded
    started: float
    ended: float
    outputs: list[str] = field(default_factory=list)  # only outputs that the result depends on

    @property
    def code(self) -> str | None:
        """Version of the library code that the job used, without its prefix."""
        texts = (value for value in self.parameters if isinstance(value, str))
        found = next((text for text in texts if CODE.fullmatch(text)), None)
        return found and found.removeprefix(PREFIX)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Importer entries that the job read, if it imported text."""
        lists = (value for value in self.parameters if isinstance(value, list))
        return next((v for v in lists if v and isinstance(v[0], dict) and "importer" in v[0]), [])


@dataclass(frozen=True)
class Provenance:
    """Jobs of a result, the last first, and its sources (files that no job made), in the folder of its workflow."""

    folder: Path
    result: str
    jobs: list[Job]
    sources: list[str]


def provenance(path: str | Path) -> Provenance:
    """Find all jobs and sources of a result, or of the recorded folder with it.  Raises InputError if unknown."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: no such result; check the path")
    above = (folder for folder in path.absolute().parents if (folder / RECORDS).is_dir())
    folder = next(above, None)
    if folder is None:
        remedy = "look at results where the workflow made them"
        raise InputError(f"{path}: no {RECORDS} in a folder above it; {remedy}")
    result = _recorded(folder, path.absolute().relative_to(folder).as_posix())
    if result is None:
        raise InputError(
            f"{path}: no job recorded that it made this; name a file or folder that a rule of the workflow makes"
        )
    jobs: dict[tuple, Job] = {}
    waiting, seen, sources = [result], {result}, []
    while waiting:
        output = waiting.pop(0)
        record = _record(folder, output)
        if record is None:
            sources.append(output)
            continue
        rule, times = record["rule"], (record["starttime"], record["endtime"])
        values = tuple(map(_value, record["params"]))
        job = Job(rule, tuple(record["input"]), values, *times)
        jobs.setdefault((rule, tuple(record["log"])), job).outputs.append(output)
        inputs = [_recorded(folder, name) or name for name in job.inputs]
        waiting += [name for name in dict.fromkeys(inputs) if name not in seen]
        seen.update(inputs)
    ordered = sorted(jobs.values(), key=lambda job: -job.ended)  # an input ended before it was read
    return Provenance(folder, result, ordered, sorted(sources))


def _recorded(folder: Path, name: str) -> str | None:
    """Find the recorded output that is `name` or contains it; None if no job made it."""
    places = (name, *(parent.as_posix() for parent in Path(name).parents))
    return next((place for place in places if _record(folder, place) is not None), None)


def _record(folder: Path, output: str) -> dict[str, Any] | None:
    """Read Snakemake's record of an output; the file's name is the output's path in Base64, long ones in folders."""
    name, longest = urlsafe_b64encode(output.encode()).decode(), 254
    parts = [name[start : start + longest] for start in range(0, len(name), longest)]
    path = folder.joinpath(RECORDS, *(f"@{part}" for part in parts[:-1]), parts[-1])
    if not path.is_file():
        return None
    record = read_json(path)
    for key, is_sound in FIELDS.items():
        if not isinstance(record, dict) or not is_sound(record.get(key)):
            message = f"{path}: no sound '{key}' in this record of Snakemake's; run the job again"
            raise InputError(f"{message}, or use the version that wrote it")
    return record


def _value(text: str) -> Any:
    """Return a recorded parameter as a value, or as text if it is not a Python literal."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # MemoryError: nested too deeply
        return text
