"""Registry of training companions by name, so that another process can make them from plain values."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from weebill.pruning.study import CompanionSettings
from weebill.registry import Registry

COMPANIONS: Registry[type[CompanionSettings]] = Registry(
    {
        "group-lasso": "weebill.pruning.group_penalty:Lasso",
        "movement": "weebill.pruning.movement_gates:MovementScoring",
    }
)


def companion_to_dict(settings: CompanionSettings) -> dict[str, Any]:
    """Return the settings of a companion with the name of their kind, for JSON."""
    module = type(settings).__module__
    name = next(name for name in COMPANIONS if COMPANIONS.module(name) == module)
    return {"companion": name, **asdict(settings)}


def companion_from_dict(values: Mapping[str, Any]) -> CompanionSettings:
    """Make companion settings from the dictionary that `companion_to_dict` returned."""
    settings = {key: value for key, value in values.items() if key != "companion"}
    return COMPANIONS[values["companion"]](**settings)
