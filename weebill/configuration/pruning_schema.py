"""Schemas of recipes to prune, made from the settings of the methods that `pruning.methods` names."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter

from weebill.pruning.method import AtOnce
from weebill.pruning.methods import METHODS, method_class

Rules = dict[str, Any]


def pruning_definitions(kind: str) -> dict[str, Rules]:
    """Return the `$defs` that the schema of a kind of experiment refers to for pruning."""
    if kind == "translation":
        return {"recipe": {"oneOf": [recipe_rules(name) for name in METHODS]}}
    if kind == "metric":  # nothing is trained
        at_once = [name for name in METHODS if issubclass(method_class(name), AtOnce)]
        defaults = {"ranking": "layer", "blocks": "*"}
        return {
            "recipe": {"oneOf": [recipe_rules(name, ["reset_to"], defaults) for name in at_once]}
        }
    if kind == "generation":  # its training tells the updates
        step = recipe_rules("movement", ["prune_updates", "reset_to"], {"blocks": "*"})
        step["required"].append("training")
        step["properties"] |= {
            "loss": {"$ref": "#/$defs/distillation_loss"},
            "training": {"$ref": "#/$defs/generator_training"},
        }
        step["former"] = {"movement": "its keys beside 'method: movement'"}
        return {"movement": step}
    return {}


def recipe_rules(
    name: str, without: Collection[str] = (), defaults: Mapping[str, Any] | None = None
) -> Rules:
    """Return the schema of a recipe of a method.

    without: settings that the family decides itself.  defaults: those of the family, where they differ.
    """
    method = method_class(name)
    known = TypeAdapter(method).json_schema()["properties"]
    keys = [field.name for field in fields(method) if field.name not in without]
    rules = {key: _rule(known[key]) for key in keys}
    for key, default in (defaults or {}).items():
        if key in rules:
            rules[key]["default"] = default
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [key for key in keys if "default" not in rules[key]],
        "properties": {"method": {"const": name}, **rules},
    }


def _rule(rule: Rules) -> Rules:
    """Leave out what the words of `configuration.schema` need not know; the choices tell the type."""
    surplus = {"title", "description"} | ({"type"} if "enum" in rule else set())
    return {key: value for key, value in rule.items() if key not in surplus}
