"""Check of a whole configuration: its schema, contradictions between its keys, its local files, and its cost.

A configuration names the `kind` of its experiment; configuration/sections/KIND.py has its keys, rules/KIND.smk its
stages.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from weebill.configuration import (
    data,
    defaults,
    generation,
    metric,
    metric_cost,
    schema,
    translation,
)
from weebill.configuration.estimates import Estimate
from weebill.configuration.origins import definition_faults, local_paths, resolve
from weebill.configuration.schema import Config, ConfigurationError, Fault, shown
from weebill.configuration.zoo_file import load_zoo, shape_faults, with_own
from weebill.errors import nearest
from weebill.experiment.origins import is_made
from weebill.experiment.student_names import with_students
from weebill.experiment.zoo import Zoo
from weebill.text_files import COMPRESSED, OTHER_ARCHIVES

# Module of each kind.  Its CHECKS yield the faults of well-formed sections, its `local_paths` yields (key, path) of
# every local file that the experiment reads, and its `unfit_models` returns a line for each unusable folder or text.
KINDS: dict[str, Any] = {"translation": translation, "metric": metric, "generation": generation}
ESTIMATES: dict[str, Callable[[Config, Zoo], Estimate]] = {
    "translation": translation.estimate,
    "metric": metric_cost.estimate,
    "generation": generation.estimate,
}

# Keys that name folders, and those that name a folder or a file; all other keys of local paths name plain files.
FOLDERS = ("local_dir", "mirror", "folder", "hugging_face")
EITHER = ("model", "models", "checkpoint", "encoder")


class _Broken(Exception):
    """Error on the use of a section that itself has a fault."""


class _Sections(Mapping[str, Any]):
    """Sections of a configuration; access to one of the `broken` sections raises _Broken."""

    def __init__(self, config: Config, broken: set[str]) -> None:
        self._config, self._broken = config, broken

    def __getitem__(self, name: str) -> Any:
        if name in self._broken:
            raise _Broken
        return self._config[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._config)

    def __len__(self) -> int:
        return len(self._config)


def check(config: Mapping[str, Any], origin: str, zoo: Zoo | None = None) -> Config:
    """Return `config` with every default filled in; `zoo` defaults to config/models.yaml.

    The name of a public text is replaced by the path where the workflow makes the text.  Noise without a seed gets
    one, and embedded text without `skip` gets pairs that no other entry has.
    Files are not searched; `missing_files` does that.  A complete configuration does not change.
    Raises ConfigurationError with one line `ORIGIN: KEY.PATH: found, expected` for every fault.
    """
    name = config.get("kind", "translation") if isinstance(config, Mapping) else "translation"
    if not isinstance(name, str) or name not in KINDS:
        expected = f"expected one of {', '.join(KINDS)}{nearest(str(name), KINDS)}"
        raise ConfigurationError([f"{origin}: kind: found {shown(name)}, {expected}"])
    kind, rules = KINDS[name], schema.load_schema(name)
    found = schema.faults(config, rules)
    if any(not fault.path for fault in found):
        raise ConfigurationError([fault.line(origin) for fault in found])
    # A section with a fault is not compared with others, because its meaning is unknown.
    broken = {str(fault.path[0]) for fault in found if not fault.unknown_key}
    complete = resolve(defaults.filled(config, rules), found)
    if kind is translation:
        data.complete(complete, broken)
    zoo = load_zoo() if zoo is None else zoo
    if "architectures" not in broken:
        zoo = with_own(zoo, complete)
        found += own_shape_faults(complete)
    if "students" not in broken:
        zoo = with_students(zoo, complete.get("students", []))
    for find in (definition_faults, *kind.CHECKS):
        with suppress(_Broken):
            for fault in find(_Sections(complete, broken), zoo):
                found.append(fault)
    if found:
        raise ConfigurationError([fault.line(origin) for fault in found])
    return complete


def missing_files(config: Config) -> list[str]:
    """Return one line, with its remedy, for every local file that cannot be read."""
    own = [("mirror", config["mirror"])] if "mirror" in config else []
    own += local_paths(config)
    return [
        f"{key}: {problem}"
        for key, path in [*KINDS[config["kind"]].local_paths(config), *own]
        if not is_made(path)
        and (problem := _unreadable(key.rpartition(".")[2].partition("[")[0], Path(path)))
    ]


def _unreadable(key: str, path: Path) -> str | None:
    """Return why the file or folder of a key cannot be read, and the remedy; None if it can be read."""
    if not path.exists():
        hub = ", or give its commit as revision, if this is its name on the hub"
        either = ", or write {hugging_face: NAME, revision: COMMIT} for a model of the hub"
        hint = {"hugging_face": hub, "models": either}.get(key, "")
        return f"no such file or folder: {path}; put it there or change the path{hint}"
    if key in FOLDERS and not path.is_dir():
        return f"not a folder: {path}; name the folder"
    if key not in (*FOLDERS, *EITHER) and not path.is_file():
        found = "a folder" if path.is_dir() else "not a plain file, and it is read several times"
        return f"{found}: {path}; name a file"
    if path.suffix in OTHER_ARCHIVES and path.is_file() and key not in EITHER:
        return f"text compressed as {path.suffix} is not read: {path}; use {', '.join(COMPRESSED)} or plain text"
    if not os.access(path, os.R_OK):
        return f"permission denied: {path}; make it readable"
    return None


def missing_file_notes(config: Config, most: int = 10) -> list[str]:
    """Return notes for a dry run, which needs no data: the first `most` missing files, and a count of the others."""
    lines = missing_files(config)
    if len(lines) > most:
        lines[most:] = [f"{len(lines) - most:,} more files or folders"]
    return [f"  missing: {line}" for line in [*lines, *["a run needs all of them"] * bool(lines)]]


def unfit_models(config: Config) -> list[str]:
    """Return one line for every existing model folder, table or text that the experiment cannot use."""
    return KINDS[config["kind"]].unfit_models(config)


def estimate(config: Config, zoo: Zoo | None = None) -> Estimate:
    """Estimate the cost of a checked experiment from its first job to its last."""
    zoo = load_zoo() if zoo is None else zoo
    return ESTIMATES[config["kind"]](config, with_own(zoo, config))


def own_shape_faults(config: Config) -> list[Fault]:
    """Return the faults of a configuration's own architectures."""
    return [
        Fault(("architectures", name), problem)
        for name, entry in config.get("architectures", {}).items()
        for problem in shape_faults(entry)
    ]
