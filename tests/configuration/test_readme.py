"""config/README.md tells every key of the schema, with its default, and no other."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weebill.configuration.schema import load_schema

CONFIG = Path(__file__).parents[2] / "config"
ROW = re.compile(r"^\| `([^`]+)` \| ?(.*?) ?\| ", re.MULTILINE)


def keys(schema: dict, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(path, default) of every key of an object written out in the schema."""
    for key, rule in schema.get("properties", {}).items():
        yield f"{prefix}{key}", rule.get("default")
        yield from keys(rule, f"{prefix}{key}.")


def every_key() -> dict[str, Any]:
    """The keys as the README writes them: those of importers without a path before them, no recipes'."""
    schema = load_schema("translation")
    definitions = schema["$defs"]
    rows = schema["properties"]["report"]["properties"]["rows"]["additionalProperties"]
    found = dict(keys(schema)) | dict(keys(rows, "report.rows."))
    found |= dict(keys(definitions["training"], "training."))
    found |= dict(keys(definitions["stage"], "training.stages."))
    found |= dict(keys(definitions["scores"], "cleaning.scores."))
    found |= {"cut": None} | dict(keys(definitions["cut"], "cut."))
    found |= dict(keys(definitions["integer_grid"], "quantization.int8."))
    found |= dict(keys(definitions["columns"], "columns."))
    found |= dict(keys(definitions["lines"], "lines."))
    found |= dict(keys(definitions["injected_noise"], "noise."))
    found |= dict(keys(definitions["checksums"], "sha256."))
    for name, definition in definitions.items():
        if name.endswith(("_corpus", "_set")):
            for key, rule in definition["properties"].items():
                target = definitions.get(rule.get("$ref", "").removeprefix("#/$defs/"), rule)
                found[key] = target.get("default")
    return found


def written(default: Any) -> str:
    if isinstance(default, float):
        return f"{default:f}".rstrip("0").ljust(3, "0") if default < 1e-4 else json.dumps(default)
    return default if isinstance(default, str) else json.dumps(default)


def every_method() -> dict[str, dict[str, Any]]:
    """The keys of each method's recipes."""
    found = {}
    for recipe in load_schema("translation")["$defs"]["recipe"]["oneOf"]:
        properties = recipe["properties"]
        keys = {key: rule.get("default") for key, rule in properties.items()}
        found[properties["method"]["const"]] = {k: v for k, v in keys.items() if k != "method"}
    return found


def resolved(rule: dict, schema: dict) -> dict:
    return {**schema["$defs"].get(rule.get("$ref", "").removeprefix("#/$defs/"), {}), **rule}


def check_rows(rows: dict[str, str], found: dict[str, Any]) -> None:
    """Whether rows tell these keys and no others, each with its default."""
    assert set(rows) == set(found)
    # An empty mapping is no default that a reader would miss.
    expected = {
        path: f"`{written(default)}`"
        for path, default in found.items()
        if default not in (None, {})
    }
    assert {path: rows[path] for path in expected} == expected
    assert {rows[path] for path in set(found) - set(expected)} <= {"", "–"}


def test_every_key_and_default():
    text = (CONFIG / "README.md").read_text(encoding="utf-8")
    methods = every_method()
    for name, found in methods.items():
        heading = f"\n**{name}**: "
        section = text[text.index(heading) + len(heading) :].split("\n\n")[1]
        check_rows(dict(ROW.findall(section)), found)
        text = text.replace(section, "")
    rows = dict(ROW.findall(text))
    found = every_key()
    assert len(found) > 80
    experiments = {path.name for path in CONFIG.glob("*.yaml")} - {"models.yaml"}
    check_rows({path: rows[path] for path in set(rows) - experiments}, found)


def test_every_experiment_is_listed():
    text = (CONFIG / "README.md").read_text(encoding="utf-8")
    for path in CONFIG.glob("*.yaml"):
        assert f"`{path.name}`" in text


def test_every_key_of_metric_experiments():
    """Those of alternatives stand without a path before them, as in the tables of their section."""
    schema = load_schema("metric")
    definitions = schema["$defs"]
    found = dict(keys(schema)) | dict(keys(definitions["regression"], "training."))
    found |= dict(keys(definitions["judgements"], "judgements."))
    for name in ("made_encoder", "hugging_face_encoder", "judged_set", "translated_pairs"):
        found |= dict(keys(definitions[name]))
    for name in ("by_models", "by_trained", "hub_model", "bert_score", "bleurt"):
        found |= dict(keys(definitions[name]))
    del found["table"], found["score"]  # of judged sets: told as those of judgements
    rows = dict(ROW.findall((CONFIG / "metric.md").read_text(encoding="utf-8")))
    del rows["table"]  # of pairs
    # A section may have a row of its own, or only its keys.
    sections = {key.rsplit(".", 1)[0] for key in {*rows, *found} if "." in key}
    told, known = (
        {key: value for key, value in one.items() if key not in sections} for one in (rows, found)
    )
    check_rows(told, known)
