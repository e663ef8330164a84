"""The ways to prune, by the name that `pruning.RECIPE.method` of a configuration gives them.

A new way is one file with a dataclass that is a `study.Method`, and one entry here.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from weebill.errors import InputError, nearest
from weebill.pruning.depth import Depth
from weebill.pruning.from_scratch import FromScratch
from weebill.pruning.group_lasso import GroupLasso
from weebill.pruning.late_reset import LateReset
from weebill.pruning.movement import Movement
from weebill.pruning.one_shot import OneShot
from weebill.pruning.study import Method

METHODS: dict[str, type[Method]] = {
    "late-reset": LateReset,
    "one-shot": OneShot,
    "group-lasso": GroupLasso,
    "movement": Movement,
    "depth": Depth,
    "from-scratch": FromScratch,
}


def pruning_method(recipe: Mapping[str, Any]) -> Method:
    """The method of a recipe: `method` names it, the other keys are its settings.

    Raises InputError where the method or a setting is unknown.
    """
    settings = {key: value for key, value in recipe.items() if key != "method"}
    name = recipe.get("method")
    if name not in METHODS:
        raise InputError(f"pruning: no method '{name}'{nearest(str(name), METHODS)}")
    known = [field.name for field in fields(METHODS[name])]
    for key in settings:
        if key not in known:
            raise InputError(f"pruning: method '{name}' has no key '{key}'{nearest(key, known)}")
    return METHODS[name](**settings)
