"""The kinds of experiment: what is checked of each beyond its schema, and what it needs.

An experiment names its `kind`; config/schema/KIND.schema.yaml holds its keys, rules/KIND.smk its stages.
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
from weebill.configuration.data import draw_seeds
from weebill.configuration.errors import ConfigurationError
from weebill.configuration.estimates import Estimate
from weebill.configuration.schema import Fault, shown
from weebill.configuration.zoo import Zoo, load_zoo
from weebill.errors import nearest

Config = dict[str, Any]


def _nothing(config: Config, *_: Any) -> list:
    return []


@dataclass(frozen=True)
class Kind:
    """contradictions: of the well-formed sections.  complete: fills in what no fixed default can.

    local_paths: (key, path) of every file that is read.  unfit_models: a line for each folder that cannot serve.
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
        draw_seeds,
        resources.unfit_models,
    ),
    "metric": Kind(metric.contradictions, metric.local_paths, metric_estimate.estimate),
    "generation": Kind(generation.contradictions, generation.local_paths, generation.estimate),
}
DEFAULT = "translation"


def kind_of(config: Any, origin: str) -> str:
    """The kind that a configuration names.  Raises ConfigurationError for an unknown one."""
    kind = config.get("kind", DEFAULT) if isinstance(config, Mapping) else DEFAULT
    if not isinstance(kind, str) or kind not in KINDS:
        expected = f"expected one of {', '.join(KINDS)}{nearest(str(kind), KINDS)}"
        raise ConfigurationError([f"{origin}: kind: found {shown(kind)}, {expected}"])
    return kind


def missing_files(config: Config) -> list[str]:
    """One line, with its remedy, for every local file that a checked configuration names and that is not there."""
    hub = ", or give its commit as revision, if this is its name on the hub"
    return [
        f"{key}: no such file or folder: {path}; put it there or change the path"
        + (hub if key.endswith(".hugging_face") else "")
        for key, path in KINDS[config["kind"]].local_paths(config)
        if not Path(path).exists()
    ]


def unfit_models(config: Config) -> list[str]:
    """One line for every folder of a model that is there and cannot serve."""
    return KINDS[config["kind"]].unfit_models(config)


def estimate(config: Config, zoo: Zoo | None = None) -> Estimate:
    """What a checked configuration needs from its first job to its last."""
    return KINDS[config["kind"]].estimate(config, load_zoo() if zoo is None else zoo)
