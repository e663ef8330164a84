"""Validation by JSON Schema with our own messages, one line per fault.

The type of a value and its `const` keys (`importer`, `method`) choose the alternative of a `oneOf`, so only the
faults of the intended alternative are reported.
"""

import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from weebill.configuration.settings_schema import schema_of
from weebill.errors import InputError, Key, abridged, key_path, nearest
from weebill.registry import Registry

Config = dict[str, Any]
Place = tuple[Key, ...]
# Settings of each kind of experiment, and of the zoo.
SETTINGS: Registry[Any] = Registry(
    {
        "translation": "weebill.configuration.sections.translation:Translation",
        "metric": "weebill.configuration.sections.metric:Metric",
        "generation": "weebill.configuration.sections.generation:Generation",
        "models": "weebill.configuration.zoo_file:Entries",
    }
)
# JSON's types: Python classes, and words in messages.
TYPES: dict[str, tuple[Any, str]] = {
    "object": (dict, "keys with values"),
    "array": (list, "a list"),
    "string": (str, "text"),
    "integer": (int, "a whole number"),
    "number": (int | float, "a number"),
    "boolean": (bool, "true or false"),
}
BOUNDS = {
    "minimum": (operator.ge, "at least"),
    "exclusiveMinimum": (operator.gt, "more than"),
    "maximum": (operator.le, "at most"),
    "exclusiveMaximum": (operator.lt, "less than"),
}
LENGTHS = {"Length": "string", "Items": "array", "Properties": "object"}


class ConfigurationError(InputError):
    """Error with all faults of a configuration; `errors` are the lines `ORIGIN: KEY.PATH: found, expected`."""

    def __init__(self, errors: list[str]):
        super().__init__("\n".join(errors))
        self.errors = errors


class Fault(NamedTuple):
    """Fault of a configuration; `unknown_key` is True if it is only a superfluous key."""

    path: Place
    message: str
    unknown_key: bool = False

    def line(self, origin: str) -> str:
        """Return the line about the fault that the user reads."""
        return f"{origin}: {key_path(self.path)}: {self.message}"


def unknown(kind: str, name: str, known: Iterable[str], where: str) -> str:
    """Return the message about an unknown name, with the nearest known name."""
    return f"no {kind} '{name}' in {where}{nearest(name, known)}"


def absent(place: Place, kind: str, name: str, known: Iterable[str], where: str) -> Iterator[Fault]:
    """Yield a fault if a name is unknown."""
    if name not in known:
        yield Fault(place, unknown(kind, name, known, where))


def at(values: Any, *patterns: str) -> Iterator[tuple[Place, Any]]:
    """Yield key path and value of every present key that matches a pattern such as "corpora.*.source|target"."""
    for first, _, rest in (pattern.partition(".") for pattern in patterns):
        found: list[tuple[Any, Any]] = []
        if isinstance(values, list):
            found = list(enumerate(values))
        elif isinstance(values, Mapping):
            keys = values if first == "*" else first.split("|")
            found = [(key, values[key]) for key in keys if key in values]
        for key, value in found:
            below = at(value, rest) if rest else [((), value)]
            yield from (((key, *path), one) for path, one in below)


@cache
def load_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of experiment, or of the zoo, made from its settings classes."""
    return schema_of(SETTINGS[name])


def faults(values: Any, schema: dict[str, Any]) -> list[Fault]:
    """Return every fault of `values` against the schema, in the order of the keys."""
    return list(_faults(values, schema, schema, ()))


def _faults(value: Any, schema: dict, root: dict, path: Place) -> Iterator[Fault]:
    schema = resolve(schema, root)
    if isinstance(value, float) and not math.isfinite(value):  # YAML's .inf and .nan
        yield Fault(path, f"found {value}, expected a finite number")
    elif "oneOf" in schema:
        chosen = choose(value, schema["oneOf"], root)
        if isinstance(chosen, dict):
            yield from _faults(value, chosen, root, path)
        else:
            tag = value.get(chosen.path[0]) if chosen.path else None
            former = schema.get("former", {}).get(str(tag))  # alternatives of earlier versions
            message = f"found '{tag}', expected {former}" if former else chosen.message
            yield Fault((*path, *chosen.path), message)
    else:
        for keyword in schema:
            yield from _broken(keyword, value, schema, root, path)
        for key, child, child_schema in children(value, schema):
            yield from _faults(child, child_schema, root, (*path, key))


def _matches(pattern: str, text: str) -> bool:
    """Return True if a text matches a pattern of JSON Schema, where $ is only the end, not also a final line end."""
    end = r"\Z" if pattern.endswith("$") else ""
    return re.search(pattern.removesuffix("$") + end, text) is not None


def _broken(keyword: str, value: Any, schema: dict, root: dict, path: Place) -> Iterator[Fault]:
    """Yield the faults of a value against one keyword of a schema, without faults of nested values."""
    rule = schema[keyword]
    match keyword:
        case "additionalProperties" if rule is False and isinstance(value, dict):
            known = list(schema["properties"])
            for key in value:
                if key not in known:
                    former = schema.get("former", {}).get(key)  # keys of earlier versions
                    expected = former or _one_of(known) + nearest(key, known)
                    yield Fault((*path, key), f"unknown key, expected {expected}", unknown_key=True)
        case "required" if isinstance(value, dict):
            for key in rule:
                if key not in value:
                    wanted = _wanted(resolve(schema["properties"][key], root), root)
                    yield Fault((*path, key), f"missing, expected {wanted}")
        case "propertyNames" if isinstance(value, dict):
            for key in value:
                wanted = rule if isinstance(key, str) else {"type": "string"}
                yield from _faults(key, wanted, root, (*path, str(key)))
        case "type" if not has_type(value, rule):
            expected = schema.get("expected", TYPES[rule][1])
            yield Fault(path, f"found {shown(value, wanted=rule)}, expected {expected}")
        case "enum" | "const":
            known = rule if keyword == "enum" else [rule]
            if isinstance(value, bool) or value not in known:
                yield Fault(path, _not_among(value, known))
        case "pattern" if isinstance(value, str) and not _matches(rule, value):
            yield Fault(path, f"found {shown(value)}, expected {schema['expected']}")
        case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
            keeps, words = BOUNDS[keyword]
            if has_type(value, schema["type"]) and not keeps(value, rule):
                yield Fault(path, f"found {shown(value)}, expected {words} {rule}")
        case "minLength" | "minItems" | "maxItems" | "minProperties":
            keeps, words = BOUNDS["minimum" if keyword.startswith("min") else "maximum"]
            if has_type(value, LENGTHS[keyword[3:]]) and not keeps(len(value), rule):
                found = shown(value) if value else "nothing"
                yield Fault(path, f"found {found}, expected {words} {rule}")
        case "uniqueItems" if isinstance(value, list):
            for twice in [item for index, item in enumerate(value) if item in value[:index]][:1]:
                yield Fault(path, f"found {shown(twice)} twice, expected each once")


def children(value: Any, schema: dict) -> Iterator[tuple[Key, Any, dict]]:
    """Yield key, value and schema of each value directly inside a value."""
    if isinstance(value, dict):
        others = schema.get("additionalProperties")
        for key, child in value.items():
            child_schema = schema.get("properties", {}).get(key, others)
            if isinstance(child_schema, dict):
                yield key, child, child_schema
    elif isinstance(value, list) and "items" in schema:
        for index, child in enumerate(value):
            yield index, child, schema["items"]


def resolve(schema: dict, root: dict) -> dict:
    """Return the schema that a `$ref` points to, with the keys next to the `$ref`, such as a default."""
    if "$ref" not in schema:
        return schema
    return {**root["$defs"][schema["$ref"].removeprefix("#/$defs/")], **schema}


def choose(value: Any, alternatives: list[dict], root: dict) -> dict | Fault:
    """Return the alternative that `value` means, or the fault that leaves it unclear."""
    options = [resolve(option, root) for option in alternatives]
    typed = [option for option in options if has_type(value, option["type"])]
    if not typed:
        expected = _wanted({"oneOf": alternatives}, root)
        return Fault((), f"found {shown(value)}, expected {expected}")
    keys = typed[0].get("properties", {})
    tag = next((key for key, rule in keys.items() if "const" in rule), None)
    if tag is None:
        return typed[0]
    known = [option["properties"][tag]["const"] for option in typed]
    if tag not in value:
        return Fault((tag,), f"missing, expected {_one_of(known)}")
    if value[tag] not in known:
        return Fault((tag,), _not_among(value[tag], known))
    return typed[known.index(value[tag])]


def has_type(value: Any, name: str) -> bool:
    """Return True if a value has the JSON type of this name."""
    if name == "integer" and isinstance(value, float):
        return value.is_integer() and abs(value) < 2**63
    return isinstance(value, TYPES[name][0]) and isinstance(value, bool) == (name == "boolean")


def _wanted(schema: dict, root: dict) -> str:
    if "oneOf" in schema:
        types = [resolve(option, root)["type"] for option in schema["oneOf"]]
        return " or ".join(dict.fromkeys(TYPES[name][1] for name in types))
    if "enum" in schema or "const" in schema:
        return _one_of(schema.get("enum", [schema.get("const")]))
    return schema.get("expected", TYPES[schema["type"]][1])


def _one_of(names: list) -> str:
    return str(names[0]) if len(names) == 1 else f"one of {', '.join(map(str, names))}"


def _not_among(value: Any, known: list) -> str:
    return f"found {shown(value)}, expected {_one_of(known)}{nearest(value, map(str, known))}"


def shown(value: Any, wanted: str | None = None) -> str:
    """Return a value as shown in messages; explain why YAML read a number as text, or a word as something else."""
    if isinstance(value, str):
        number = wanted in ("integer", "number") and _is_number(value)
        hint = ", which YAML reads as text (write 1.0e-4 for 1e-4, no quotes)" if number else ""
        text = value if value.isprintable() else repr(value)[1:-1]
        return f"'{abridged(text)}'{hint}"
    if isinstance(value, dict | list):
        return TYPES["object" if isinstance(value, dict) else "array"][1]
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if wanted != "string":
        return text
    word = ("no" if not value else "yes") if isinstance(value, bool) else text
    return f"{text}, which YAML does not read as text (write '{word}' with the quotes)"


def _is_number(text: str) -> bool:
    try:
        return isinstance(float(text), float)
    except ValueError:
        return False
