"""JSON Schemas of settings classes, checked by jsonschema, and imports of the classes' modules."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import jsonschema
import pytest

from weebill.configuration.schema import SETTINGS, load_schema
from weebill.configuration.settings_schema import schema_of
from weebill.settings import (
    Chosen,
    Computed,
    Count,
    Ge,
    Gt,
    Le,
    Lt,
    MaxLen,
    MinLen,
    Name,
    Share,
    Unique,
    section,
)
from weebill.yaml_files import read_yaml


@section
class Part:
    """A part."""

    FORMER: ClassVar = {"portion": "share"}
    share: Share = 0.5
    """A share."""


@section
class First:
    """One alternative."""

    size: Count
    speed: Count = 2


@section
class Second:
    """Another alternative."""

    size: Count
    speed: Count = 3


Ways = {"first": First, "second": Second}


@section
class Whole:
    """A whole with
    all kinds of keys."""

    name: Name
    """A name."""
    choice: Literal["a", "b"] = "a"
    half_open: Annotated[float, Gt(0), Lt(1)] = 0.5
    closed: Annotated[int, Ge(0), Le(9)] | None = None
    part: Part = Part()
    ways: Annotated[dict[Name, Annotated[Any, Chosen("by", Ways)]], MinLen(1)] = field(
        default_factory=dict
    )
    some: Annotated[tuple[int, ...], MinLen(1), MaxLen(3), Unique()] = (1, 2)
    anything: Mapping[str, Any] = field(default_factory=dict)
    several: Part | Annotated[tuple[Part, ...], MinLen(1)] | None = None
    hidden: Annotated[str, Computed()] = ""


VALID = {"name": "n"}
EXPERIMENTS = sorted((Path(__file__).parents[2] / "config").glob("*.yaml"))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"choice": "b", "half_open": 0.99, "closed": 9, "part": {}, "some": [3]},
        {"ways": {"x": {"by": "first", "size": 1}, "y": {"by": "second", "size": 2}}},
        {"anything": {"deep": [{}]}, "several": [{"share": 1}]},
        {"several": {"share": 0}},
    ],
)
def test_valid(values):
    jsonschema.validate({**VALID, **values}, schema_of(Whole))


@pytest.mark.parametrize(
    "values",
    [
        {"name": "a b"},
        {"choice": "c"},
        {"half_open": 0},
        {"half_open": 1},
        {"closed": -1},
        {"closed": 10},
        {"closed": None},
        {"part": {"share": 1.1}},
        {"part": {"other": 1}},
        {"ways": {}},
        {"ways": {"a/b": {"by": "second", "size": 1}}},
        {"ways": {"x": {"by": "third", "size": 1}}},
        {"ways": {"x": {"by": "first"}}},
        {"some": []},
        {"some": [1, 1]},
        {"some": [1, 2, 3, 4]},
        {"anything": 3},
        {"several": []},
        {"hidden": "x"},
    ],
)
def test_invalid(values):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**VALID, **values}, schema_of(Whole))


def test_defaults_and_words():
    schema = schema_of(Whole, words=True)
    given = {
        key: rule["default"] for key, rule in schema["properties"].items() if "default" in rule
    }
    assert given == {
        "choice": "a",
        "half_open": 0.5,
        "part": {},
        "ways": {},
        "some": [1, 2],
        "anything": {},
    }
    assert schema["required"] == ["name"]
    assert schema["description"] == "A whole with all kinds of keys."
    assert schema["$defs"]["Part"]["properties"]["share"]["description"] == "A share."
    assert schema["$defs"]["Part"]["former"] == {"portion": "share"}


def test_an_alternative_with_other_keys_and_defaults():
    choice = Chosen("by", {"first": First}, without=["size"], defaults={"speed": 9, "other": 1})
    schema = schema_of(dict[str, Annotated[Any, choice]])
    assert schema["$defs"]["First"] == {
        "type": "object",
        "additionalProperties": False,
        "required": ["by"],
        "properties": {
            "by": {"const": "first"},
            "speed": {"type": "integer", "minimum": 1, "default": 9},
        },
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (make_dataclass("Changed", [("part", Part, Part(share=0.1))]), "part: the default is not"),
        (make_dataclass("Odd", [("key", bytes)]), "has no JSON Schema"),
        (
            make_dataclass("Twice", [("a", Part), ("b", make_dataclass("Part", []))]),
            "two settings classes are called Part",
        ),
    ],
    ids=["default", "type", "name"],
)
def test_a_class_that_has_no_schema(wrong, message):
    with pytest.raises(TypeError, match=message):
        schema_of(wrong)


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_default_keeps_its_bounds(kind):
    schema = load_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    for rule in (schema, *schema["$defs"].values()):
        keys = rule.get("properties", {})
        given = {key: one for key, one in keys.items() if one.get("default") not in (None, {}, [])}
        values = {key: one["default"] for key, one in given.items()}
        jsonschema.Draft202012Validator({"properties": given}).validate(values)


@pytest.mark.parametrize("kind", SETTINGS)
def test_editors_show_sentences_of_every_section(kind):
    """A dataclass without a docstring would show its signature."""
    for name, rule in schema_of(SETTINGS[kind], words=True)["$defs"].items():
        told = rule["description"]
        assert told.endswith(".") and not told.startswith(f"{name}("), name


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_editors_find_no_fault_in_our_experiments(path):
    config = read_yaml(path)
    kind = "models" if path.stem == "models" else config.get("kind", "translation")
    jsonschema.Draft202012Validator(load_schema(kind)).validate(config)


def test_settings_are_read_without_the_libraries_that_train():
    code = "import sys\nfrom weebill.configuration.schema import SETTINGS, load_schema\n"
    code += "for kind in SETTINGS: load_schema(kind)\n"
    code += "print({'torch', 'pandas', 'pyarrow', 'transformers', 'lightning'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
