"""Validation by JSON Schema with our own messages, one line for each fault, and filling in of defaults.

The type of a value and its `const` keys (`importer`, `method`) choose the alternative of a `oneOf`, so that only
the faults of the intended alternative are reported.
"""

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import jsonschema

from weebill.configuration.settings_schema import schema_of
from weebill.errors import Key, key_path, nearest
from weebill.registry import Registry

# Settings of each kind of experiment, and of the zoo.
SETTINGS: Registry[Any] = Registry(
    {
        "translation": "weebill.configuration.sections.translation:Translation",
        "metric": "weebill.configuration.sections.metric:Metric",
        "generation": "weebill.configuration.sections.generation:Generation",
        "models": "weebill.configuration.sections.zoo:Zoo",
    }
)

TYPES = {
    "object": "keys with values",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


@dataclass(frozen=True)
class Fault:
    """Fault of a configuration: its key path and its message.

    unknown_key: True if the fault is only a superfluous key.
    """

    path: tuple[Key, ...]
    message: str
    unknown_key: bool = False

    def line(self, origin: str) -> str:
        """Return the fault in the line that the user reads."""
        return f"{origin}: {key_path(self.path)}: {self.message}"


def contradicted(
    checks: Iterable[tuple[tuple[str, ...], Callable[..., Iterable[Fault]]]],
    broken: set[str],
    *arguments: Any,
) -> list[Fault]:
    """Return the faults that checks find.

    Each check names the sections that it reads, and is skipped if one of them is broken.
    """
    return [
        fault
        for sections, find in checks
        if broken.isdisjoint(sections)
        for fault in find(*arguments)
    ]


def unknown(kind: str, name: str, known: Iterable[str], where: str) -> str:
    """Return the message about an unknown name, with the nearest known name."""
    return f"no {kind} '{name}' in {where}{nearest(name, known)}"


@cache
def load_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of experiment, or of the zoo, made from its settings classes."""
    return schema_of(SETTINGS[name])


def faults(values: Any, schema: dict[str, Any]) -> list[Fault]:
    """Return every fault of `values` against the schema, in the order of the keys."""
    return list(_faults(values, schema, schema, ()))


def _faults(value: Any, schema: dict, root: dict, path: tuple[Key, ...]) -> Iterator[Fault]:
    schema = _resolve(schema, root)
    if isinstance(value, float) and not math.isfinite(value):  # YAML's .inf and .nan
        yield Fault(path, f"found {value}, expected a finite number")
        return
    if "oneOf" in schema:
        chosen = _choose(value, schema["oneOf"], root)
        if isinstance(chosen, dict):
            yield from _faults(value, chosen, root, path)
        else:
            tag = value.get(chosen.path[0]) if chosen.path else None
            former = schema.get("former", {}).get(tag)  # alternatives of earlier versions
            message = f"found '{tag}', expected {former}" if former else chosen.message
            yield Fault((*path, *chosen.path), message)
        return
    # Validate one level only: the loop below visits deeper levels, after the choice of their alternatives.
    shallow = {key: rule for key, rule in schema.items() if key not in ("properties", "items")}
    if isinstance(shallow.get("additionalProperties"), dict):
        del shallow["additionalProperties"]
    elif "properties" in schema:
        shallow["properties"] = dict.fromkeys(schema["properties"], True)
    if "propertyNames" in shallow:
        shallow["propertyNames"] = _resolve(shallow["propertyNames"], root)
    for error in jsonschema.Draft202012Validator(shallow).iter_errors(value):
        yield from _translate(error, path, schema, root)
    for key, child, child_schema in _children(value, schema):
        yield from _faults(child, child_schema, root, (*path, key))


def _children(value: Any, schema: dict) -> Iterator[tuple[Key, Any, dict]]:
    """Yield the key, the value and the schema of everything one level below."""
    if isinstance(value, dict):
        others = schema.get("additionalProperties")
        for key, child in value.items():
            child_schema = schema.get("properties", {}).get(key, others)
            if isinstance(child_schema, dict):
                yield key, child, child_schema
    elif isinstance(value, list) and "items" in schema:
        for index, child in enumerate(value):
            yield index, child, schema["items"]


def _resolve(schema: dict, root: dict) -> dict:
    """Return the schema that a `$ref` points to, with the keys next to the `$ref`, such as a default."""
    if "$ref" not in schema:
        return schema
    target = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return {**target, **{key: rule for key, rule in schema.items() if key != "$ref"}}


def _choose(value: Any, alternatives: list[dict], root: dict) -> dict | Fault:
    """Return the alternative that `value` means, or the fault that leaves it unclear."""
    options = [_resolve(option, root) for option in alternatives]
    typed = [option for option in options if _has_type(value, option["type"])]
    if not typed:
        expected = _wanted({"oneOf": alternatives}, root)
        return Fault((), f"found {shown(value)}, expected {expected}")
    tags = {
        key: [option["properties"][key]["const"] for option in typed]
        for key, rule in typed[0].get("properties", {}).items()
        if "const" in rule
    }
    for key, known in tags.items():
        if key not in value:
            return Fault((key,), f"missing, expected {_one_of(known)}")
        if value[key] not in known:
            return Fault((key,), _not_among(value[key], known))
        return typed[known.index(value[key])]
    return typed[0]


def _has_type(value: Any, name: str) -> bool:
    return jsonschema.Draft202012Validator({"type": name}).is_valid(value)


def _translate(
    error: jsonschema.ValidationError, path: tuple[Key, ...], schema: dict, root: dict
) -> Iterator[Fault]:
    """Yield the faults of one level's jsonschema error, one for each superfluous or missing key."""
    value, rule = error.instance, error.validator_value
    if error.schema_path[0] == "propertyNames":
        path = (*path, str(value))
    match error.validator:
        case "additionalProperties":
            known = list(error.schema["properties"])
            for key in value:
                if key not in known:
                    message = f"unknown key, expected {_one_of(known)}{nearest(key, known)}"
                    if key in schema.get("former", {}):  # keys of earlier versions
                        message = f"unknown key, expected {schema['former'][key]}"
                    yield Fault((*path, key), message, unknown_key=True)
        case "required":
            key = error.message.split("'")[1]  # jsonschema raises one error for each missing key
            wanted = _wanted(_resolve(schema["properties"][key], root), root)
            yield Fault((*path, key), f"missing, expected {wanted}")
        case "type":
            expected = schema.get("expected", TYPES[rule])
            yield Fault(path, f"found {shown(value, wanted=rule)}, expected {expected}")
        case "enum":
            yield Fault(path, _not_among(value, rule))
        case "const":
            yield Fault(path, _not_among(value, [rule]))
        case "pattern":
            yield Fault(path, f"found {shown(value)}, expected {error.schema['expected']}")
        case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
            bound = {
                "minimum": "at least",
                "exclusiveMinimum": "more than",
                "maximum": "at most",
                "exclusiveMaximum": "less than",
            }[error.validator]
            yield Fault(path, f"found {shown(value)}, expected {bound} {rule}")
        case "minLength" | "minItems" | "minProperties":
            yield Fault(
                path, f"found {'nothing' if not value else shown(value)}, expected at least {rule}"
            )
        case "uniqueItems":
            twice = next(item for index, item in enumerate(value) if item in value[:index])
            yield Fault(path, f"found {shown(twice)} twice, expected each once")
        case other:
            raise NotImplementedError(f"the schema uses '{other}', which has no words here")


def _wanted(schema: dict, root: dict) -> str:
    """Return the values that a schema expects, in words."""
    if "oneOf" in schema:
        types = [_resolve(option, root)["type"] for option in schema["oneOf"]]
        return " or ".join(dict.fromkeys(TYPES[name] for name in types))
    if "enum" in schema or "const" in schema:
        return _one_of(schema.get("enum", [schema.get("const")]))
    return schema.get("expected", TYPES[schema["type"]])


def _one_of(names: list) -> str:
    return str(names[0]) if len(names) == 1 else f"one of {', '.join(map(str, names))}"


def _not_among(value: Any, known: list) -> str:
    return f"found {shown(value)}, expected {_one_of(known)}{nearest(value, map(str, known))}"


def shown(value: Any, wanted: str | None = None) -> str:
    """Return a value in the form of messages; for text that looks like a number, add why it is text."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str() if wanted in ("integer", "number") and _is_number(value):
            return f"'{value}', which YAML reads as text (write 1.0e-4 for 1e-4, no quotes)"
        case dict():
            return "keys with values"
        case list():
            return "a list"
        case str():
            return f"'{value}'"
    return str(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def without_unknown_keys(values: Any, found: list[Fault]) -> Any:
    """Return a copy of `values` without the unknown keys among the faults."""
    values = copy.deepcopy(values)
    for fault in found:
        if fault.unknown_key:
            parent = values
            for key in fault.path[:-1]:
                parent = parent[key]
            parent.pop(fault.path[-1], None)
    return values


def filled(value: Any, schema: dict, root: dict | None = None) -> Any:
    """Return a copy of a valid value with every default filled in, and with numbers of the schema's type.

    For example, 3.0 becomes 3 if the schema expects a whole number, and 1 becomes 1.0 if it expects a number.
    """
    root = schema if root is None else root
    schema = _resolve(schema, root)
    if "oneOf" in schema:
        chosen = _choose(value, schema["oneOf"], root)
        return filled(value, chosen, root) if isinstance(chosen, dict) else value
    if isinstance(value, dict):
        complete = dict(value)
        for key, rule in schema.get("properties", {}).items():
            rule = _resolve(rule, root)
            if key not in complete and "default" in rule:
                complete[key] = copy.deepcopy(rule["default"])
        rules = {key: rule for key, _, rule in _children(complete, schema)}
        return {key: filled(child, rules.get(key, {}), root) for key, child in complete.items()}
    if isinstance(value, list):
        return [filled(child, schema.get("items", {}), root) for child in value]
    if schema.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if schema.get("type") == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value
