"""Defaults of a configuration, from its schema: fixed ones, and ones that follow another key."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from weebill.configuration.schema import Place, children, choose, has_type, resolve
from weebill.errors import key_path


def filled(value: Any, schema: dict, root: dict | None = None) -> Any:
    """Return a copy with all defaults, without unknown keys, and with numbers in the schema's type: 3 for 3.0."""
    root = root or schema
    schema = resolve(schema, root)
    if "oneOf" in schema:
        chosen = choose(value, schema["oneOf"], root)
        return filled(value, chosen, root) if isinstance(chosen, dict) else copy.deepcopy(value)
    if isinstance(value, dict):
        rules, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        complete = dict(value)
        for key, rule in rules.items():
            rule = resolve(rule, root)
            if key not in complete and "default" in rule:
                complete[key] = copy.deepcopy(rule["default"])
        complete |= {key: shorter for key, shorter, _ in _following(value, rules)}
        return {
            key: filled(child, rules.get(key, others), root)
            for key, child in complete.items()
            if rules.get(key, others) is not False
        }
    if isinstance(value, list):
        return [filled(child, schema.get("items", {}), root) for child in value]
    if schema.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if schema.get("type") == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def _following(values: Mapping[str, Any], rules: dict) -> Iterator[tuple[str, int, str]]:
    """Yield (key, value, other key) for each default that becomes smaller because the other key's value is small."""
    for key, rule in rules.items():
        other = values.get(rule["follows"]) if "follows" in rule else None
        if key not in values and other is not None and has_type(other, "integer"):
            most = max(rule.get("minimum", 0), int(rule["share"] * other))
            if most < rule["default"]:
                yield key, most, rule["follows"]


def shortened(
    value: Any, schema: dict, root: dict | None = None, path: Place = ()
) -> Iterator[str]:
    """Yield a sentence for each default of a well-formed configuration that follows a key that the user wrote."""
    root = root or schema
    schema = resolve(schema, root)
    if "oneOf" in schema:
        schema = resolve(choose(value, schema["oneOf"], root), root)
    if isinstance(value, dict):
        for key, most, other in _following(value, schema.get("properties", {})):
            rule = schema["properties"][key]
            yield (
                f"{key_path((*path, key))}: {most:,} by default, {rule['share']:g} × {other} {value[other]:,}, "
                f"instead of {rule['default']:,}"
            )
    for key, child, child_schema in children(value, schema):
        yield from shortened(child, child_schema, root, (*path, key))
