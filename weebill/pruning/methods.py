"""Registry of pruning methods by the name in a recipe's key `method`.

A new method is one file with a dataclass that is a `method.Method`, and one entry here.  Methods are loaded on use.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from weebill.errors import InputError, nearest
from weebill.pruning.method import Method
from weebill.registry import Registry

METHODS: Registry[type[Method]] = Registry(
    {
        "late-reset": "weebill.pruning.late_reset:LateReset",
        "one-shot": "weebill.pruning.one_shot:OneShot",
        "depth": "weebill.pruning.depth:Depth",
        "group-lasso": "weebill.pruning.group_lasso:GroupLasso",
        "movement": "weebill.pruning.movement:Movement",
        "from-scratch": "weebill.pruning.from_scratch:FromScratch",
    }
)


def pruning_method(recipe: Mapping[str, Any]) -> Method:
    """Make the method that a recipe names in `method`; the other keys are its settings.

    Raises InputError for an unknown method or setting.
    """
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
