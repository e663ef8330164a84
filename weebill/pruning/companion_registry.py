"""The companions of trainings by name, so that another process can make them from plain values."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from weebill.pruning.group_lasso import Lasso
from weebill.pruning.movement import MovementScoring
from weebill.pruning.study import CompanionSettings

COMPANIONS: dict[str, type[CompanionSettings]] = {
    "group-lasso": Lasso,
    "movement": MovementScoring,
}


def companion_to_dict(settings: CompanionSettings) -> dict[str, Any]:
    """The settings of a companion with the name of their kind, for JSON."""
    name = next(name for name, kind in COMPANIONS.items() if isinstance(settings, kind))
    return {"companion": name, **asdict(settings)}


def companion_from_dict(values: Mapping[str, Any]) -> CompanionSettings:
    """The inverse of `companion_to_dict`."""
    settings = {key: value for key, value in values.items() if key != "companion"}
    return COMPANIONS[values["companion"]](**settings)
