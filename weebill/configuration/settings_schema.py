"""JSON Schema of settings classes: types, bounds, defaults and optional descriptions of their fields."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from weebill.settings import Chosen, Computed, Unique, sentences

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}

Schema = dict[str, Any]


def schema_of(settings: Any, words: bool = False) -> Schema:
    """Return the schema of a settings class, or of a type made of such classes, with `$defs` of all nested classes.

    words: add the `description` of each key and class, which takes a while to read.
    Raises TypeError if a type has no schema, a section's default is not its own, or two classes have one name.
    """
    maker = _Maker(words)
    root = maker.schema(settings)
    if "$ref" in root:
        root = maker.definitions.pop(settings.__name__)
    return {"$schema": DIALECT, **root, "$defs": maker.definitions}


@dataclass(frozen=True)
class _Maker:
    """Schemas of types, and definitions of the classes in them."""

    words: bool
    definitions: dict[str, Schema] = field(default_factory=dict)
    classes: dict[str, type] = field(default_factory=dict)

    def schema(self, hint: Any) -> Schema:
        """Return the schema of a type; a settings class becomes a `$ref`."""
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in TYPES:
            return {"type": TYPES[hint]}
        if is_dataclass(hint):
            return self._named(hint)
        if origin is Annotated and isinstance(arguments[1], Chosen):
            options = [self._option(arguments[1], name) for name in arguments[1].options]
            return self._bounded({"oneOf": options}, arguments[2:])
        if origin is Annotated:
            return self._bounded(self.schema(arguments[0]), arguments[1:])
        if origin in (Union, UnionType):
            options = [self.schema(one) for one in arguments if one is not NoneType]
            several = [other for one in options for other in one.get("oneOf", [one])]
            return several[0] if len(several) == 1 else {"oneOf": several}
        if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        if origin in (tuple, list, Sequence):
            return {"type": "array", "items": self.schema(arguments[0])}
        if origin in (dict, Mapping):
            names, values = arguments
            rule: Schema = {"type": "object"}
            if names is not str:
                rule["propertyNames"] = self.schema(names)
            if values is not Any:
                rule["additionalProperties"] = self.schema(values)
            return rule
        raise TypeError(f"{hint} has no JSON Schema here")

    def _option(self, choice: Chosen, name: str) -> Schema:
        """Return the schema of one of several alternatives: the tag, then its keys."""
        cls, without = choice.options[name], {choice.tag, *choice.without}
        named = self._named(cls)
        rule = self.definitions[cls.__name__]
        keys = {key: one for key, one in rule["properties"].items() if key not in without}
        for key in keys.keys() & choice.defaults.keys():
            keys[key] = {**keys[key], "default": choice.defaults[key]}
        rule["properties"] = {choice.tag: {"const": name}, **keys}
        rule["required"] = [choice.tag, *(key for key in rule["required"] if key in keys)]
        return named

    def _named(self, cls: type) -> Schema:
        name = cls.__name__
        if self.classes.setdefault(name, cls) is not cls:
            raise TypeError(f"two settings classes are called {name}; rename one")
        if name not in self.definitions:
            self.definitions[name] = self._object(cls)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, cls: type) -> Schema:
        hints = get_type_hints(cls, include_extras=True)
        told = sentences(cls) if self.words else {}
        properties, required = {}, []
        for one in fields(cls):
            hint = hints[one.name]
            if Computed() in getattr(hint, "__metadata__", ()):
                continue
            rule, default = self.schema(hint), _default(one)
            if default is MISSING:
                required.append(one.name)
            elif default is not None:
                rule["default"] = default
            if one.name in told:
                rule["description"] = told[one.name]
            elif told and is_dataclass(hint):  # a section without its own sentence
                rule["description"] = _description(hint)
            properties[one.name] = rule
        return {
            "type": "object",
            "additionalProperties": False,
            **({"description": _description(cls)} if self.words else {}),
            # Keys of earlier versions.
            **({"former": cls.FORMER} if hasattr(cls, "FORMER") else {}),
            "required": required,
            "properties": properties,
        }

    def _bounded(self, rule: Schema, bounds: Sequence[Any]) -> Schema:
        """Add the bounds of an `Annotated` to the schema of the annotated type."""
        named = self.definitions.get(rule.get("$ref", "").removeprefix("#/$defs/"), rule)
        for bound in bounds:
            for key, value in vars(bound).items():
                if key in ("min_length", "max_length"):
                    rule[key[:3] + LENGTHS[named["type"]]] = value
                else:  # the fields of Pattern keep their names
                    rule[BOUNDS.get(key, key)] = value
            if isinstance(bound, Unique):
                rule["uniqueItems"] = True
        return rule


def _description(cls: type) -> str:
    return " ".join(cls.__doc__.split())


def _default(one: Field) -> Any:
    """Return a field's default as plain values; MISSING if the key is required, None if it may be left out."""
    value = one.default if one.default_factory is MISSING else one.default_factory()
    if is_dataclass(value):
        if value != type(value)():
            raise TypeError(f"{one.name}: the default is not the section's own; make it a class")
        return {}  # the section's own defaults are filled in key by key
    return list(value) if isinstance(value, tuple) else value
