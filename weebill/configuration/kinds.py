"""Kinds of experiment: their checks beyond the schema, their local files, and their cost.

An experiment names its `kind`; configuration/sections/KIND.py holds its keys, rules/KIND.smk its stages.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weebill.configuration import (
    contradictions,
    estimates,
    generation,
    metric,
    metric_estimate,
    resources,
)
from weebill.configuration.data import complete
from weebill.configuration.errors import ConfigurationError
from weebill.configuration.estimates import Estimate
from weebill.configuration.schema import Fault, shown
from weebill.configuration.zoo_file import load_zoo
from weebill.errors import InputError, nearest
from weebill.experiment.origins import is_made
from weebill.experiment.zoo import Zoo

Config = dict[str, Any]


def _nothing(config: Config, *_: Any) -> list:
    return []


def _with_code(paths: Iterator[tuple[str, str]], types: bool) -> list[str]:
    """Return one line for every folder of a Hugging Face model, among (key, path), that contains code.

    types: same as in `refuse_code`.
    """
    folders = [(key, path) for key, path in paths if key.endswith(".hugging_face")]
    found = []
    for key, path in folders:
        if Path(path).is_dir():
            from weebill.hugging_face.loading import refuse_code  # slow to import

            try:
                refuse_code(path, types)
            except InputError as error:
                found.append(f"{key}: {error}")
    return found


@dataclass(frozen=True)
class Kind:
    """Functions that check and estimate experiments of one kind.

    contradictions: returns the faults of the well-formed sections.
    local_paths: yields (key, path) of every local file that the experiment reads.
    estimate: returns disk space and time.
    complete: fills in defaults that depend on other keys.
    unfit_models: returns one line for each model folder that the experiment cannot use.
    """

    contradictions: Callable[[Config, Zoo, set[str]], list[Fault]]
    local_paths: Callable[[Config], Iterator[tuple[str, str]]]
    estimate: Callable[[Config, Zoo], Estimate]
    complete: Callable[[Config, set[str]], Any] = _nothing
    unfit_models: Callable[[Config], list[str]] = _nothing


KINDS = {
    "translation": Kind(
        contradictions.contradictions,
        resources.local_paths,
        estimates.estimate,
        complete,
        resources.unfit_models,
    ),
    "metric": Kind(
        metric.contradictions,
        metric.local_paths,
        metric_estimate.estimate,
        unfit_models=lambda config: _with_code(metric.local_paths(config), types=False),
    ),
    "generation": Kind(
        generation.contradictions,
        generation.local_paths,
        generation.estimate,
        unfit_models=lambda config: (
            _with_code(generation.local_paths(config), types=True)
            or generation.unfit_models(config)
        ),
    ),
}
DEFAULT = "translation"


def kind_of(config: Any, origin: str) -> str:
    """Return the kind that a configuration names.

    Raises ConfigurationError for an unknown one.
    """
    kind = config.get("kind", DEFAULT) if isinstance(config, Mapping) else DEFAULT
    if not isinstance(kind, str) or kind not in KINDS:
        expected = f"expected one of {', '.join(KINDS)}{nearest(str(kind), KINDS)}"
        raise ConfigurationError([f"{origin}: kind: found {shown(kind)}, {expected}"])
    return kind


def missing_files(config: Config) -> list[str]:
    """Return one line, with its remedy, for every missing local file that a checked configuration names."""
    hub = ", or give its commit as revision, if this is its name on the hub"
    return [
        f"{key}: no such file or folder: {path}; put it there or change the path"
        + (hub if key.endswith(".hugging_face") else "")
        for key, path in KINDS[config["kind"]].local_paths(config)
        if not (Path(path).exists() or is_made(path))
    ]


def missing_file_notes(config: Config, most: int = 10) -> list[str]:
    """Return the notes of a dry run about missing files: the first `most`, and the number of the others.

    A dry run itself needs no data.
    """
    lines = missing_files(config)
    notes = [f"  missing: {line}" for line in lines[:most]]
    if len(lines) > most:
        notes.append(f"  missing: {len(lines) - most:,} more files or folders")
    if notes:
        notes.append("  missing: a run needs all of them")
    return notes


def unfit_models(config: Config) -> list[str]:
    """Return one line for every existing model folder that the experiment cannot use."""
    return KINDS[config["kind"]].unfit_models(config)


def estimate(config: Config, zoo: Zoo | None = None) -> Estimate:
    """Estimate the cost of a checked experiment from its first job to its last."""
    return KINDS[config["kind"]].estimate(config, load_zoo() if zoo is None else zoo)
