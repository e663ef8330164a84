"""Registries of pruning methods, by the name in a recipe's key `method`, and of their companions in trainings.

A new method is one file with a dataclass that is a `method.Method`, and one entry here.  Entries are loaded on use.
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from weebill.errors import InputError, nearest
from weebill.pruning.method import Method
from weebill.registry import Registry

if TYPE_CHECKING:
    from weebill.pruning.study import CompanionSettings

METHODS: Registry[type[Method]] = Registry(
    {
        "late-reset": "weebill.pruning.late_reset:LateReset",
        "one-shot": "weebill.pruning.one_shot:OneShot",
        "depth": "weebill.pruning.depth:Depth",
        "even": "weebill.pruning.even:Even",
        "group-lasso": "weebill.pruning.group_lasso:GroupLasso",
        "movement": "weebill.pruning.movement:Movement",
        "from-scratch": "weebill.pruning.from_scratch:FromScratch",
    }
)
COMPANIONS: "Registry[type[CompanionSettings]]" = Registry(
    {
        "group-lasso": "weebill.pruning.group_penalty:Lasso",
        "movement": "weebill.pruning.movement_gates:MovementScoring",
    }
)


def pruning_method(recipe: Mapping[str, Any]) -> Method:
    """Make the method that a recipe's `method` names.  Raises InputError for an unknown method or setting."""
    settings = {key: value for key, value in recipe.items() if key != "method"}
    name = recipe.get("method")
    if name not in METHODS:
        raise InputError(f"pruning: no method '{name}'{nearest(str(name), METHODS)}")
    method = METHODS[name]
    known = [field.name for field in fields(method)]
    for key in settings:
        if key not in known:
            raise InputError(f"pruning: method '{name}' has no key '{key}'{nearest(key, known)}")
    return method(**settings)


def companion_to_dict(settings: "CompanionSettings") -> dict[str, Any]:
    """Return the settings of a companion with the name of their kind, for JSON and other processes."""
    module = type(settings).__module__
    name = next(name for name in COMPANIONS if COMPANIONS.module(name) == module)
    return {"companion": name, **asdict(settings)}


def companion_from_dict(values: Mapping[str, Any]) -> "CompanionSettings":
    """Make companion settings from the dictionary that `companion_to_dict` returned."""
    settings = {key: value for key, value in values.items() if key != "companion"}
    return COMPANIONS[values["companion"]](**settings)
