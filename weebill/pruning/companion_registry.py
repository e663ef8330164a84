"""The companions of trainings by name, so that another process can make them from plain values."""

from collections.abc import Mapping
from dataclasses import asdict
from pkgutil import resolve_name
from typing import Any

from weebill.pruning.study import CompanionSettings

COMPANIONS = {
    "group-lasso": "weebill.pruning.group_penalty:Lasso",
    "movement": "weebill.pruning.movement_gates:MovementScoring",
}


def companion_to_dict(settings: CompanionSettings) -> dict[str, Any]:
    """The settings of a companion with the name of their kind, for JSON."""
    kind = f"{type(settings).__module__}:{type(settings).__qualname__}"
    name = next(name for name, entry in COMPANIONS.items() if entry == kind)
    return {"companion": name, **asdict(settings)}


def companion_from_dict(values: Mapping[str, Any]) -> CompanionSettings:
    """The inverse of `companion_to_dict`."""
    settings = {key: value for key, value in values.items() if key != "companion"}
    return resolve_name(COMPANIONS[values["companion"]])(**settings)
