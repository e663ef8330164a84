"""config/README.md tells every key of the schema, with its default, and no other."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goldcrest.configuration.schema import load_schema

CONFIG = Path(__file__).parents[2] / "config"
ROW = re.compile(r"^\| `([^`]+)` \| ?(.*?) ?\| ", re.MULTILINE)


def keys(schema: dict, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(path, default) of every key of an object written out in the schema."""
    for key, rule in schema.get("properties", {}).items():
        yield f"{prefix}{key}", rule.get("default")
        yield from keys(rule, f"{prefix}{key}.")


def every_key() -> dict[str, Any]:
    """The keys as the README writes them: those of importers and recipes without a path before them."""
    schema = load_schema("experiment")
    definitions = schema["$defs"]
    rows = schema["properties"]["report"]["properties"]["rows"]["additionalProperties"]
    found = dict(keys(schema)) | dict(keys(rows, "report.rows."))
    found |= dict(keys(definitions["training"], "training."))
    found |= dict(keys(definitions["integer_grid"], "quantization.int8."))
    found |= dict(keys(definitions["columns"], "columns."))
    found |= dict(keys(definitions["checksums"], "sha256."))
    for name, definition in definitions.items():
        if name.endswith(("_corpus", "_set", "head_confidence")):
            for key, rule in definition["properties"].items():
                target = definitions.get(rule.get("$ref", "").removeprefix("#/$defs/"), rule)
                found[key] = target.get("default")
    return found


def written(default: Any) -> str:
    return default if isinstance(default, str) else json.dumps(default)


def test_every_key_and_default():
    rows = dict(ROW.findall((CONFIG / "README.md").read_text(encoding="utf-8")))
    found = every_key()
    assert len(found) > 80
    experiments = {path.name for path in CONFIG.glob("*.yaml")} - {"models.yaml"}
    assert set(rows) - experiments == set(found)
    told = {path: rows[path] for path in found}
    # An empty mapping is no default that a reader would miss.
    expected = {
        path: f"`{written(default)}`"
        for path, default in found.items()
        if default not in (None, {})
    }
    assert {path: told[path] for path in expected} == expected
    assert {told[path] for path in set(found) - set(expected)} <= {"", "–"}


def test_every_experiment_is_listed():
    text = (CONFIG / "README.md").read_text(encoding="utf-8")
    for path in CONFIG.glob("*.yaml"):
        assert f"`{path.name}`" in text
