"""Reference of all settings: the tables in config/*.md, and the JSON Schemas in config/schema for editors.

`python -m weebill.configuration.reference` writes them again from the settings classes.  A table is between
`<!-- settings: KIND PLACE … -->` and `<!-- end of settings -->`.  PLACE is a key, and its end selects rows: `KEY` the
key and all keys below, `KEY!` only the key, `KEY.` only the keys below, `KEY:` also these, but labelled with the last
part of the key path.

In a PLACE, `*` is any name, `[]` is any item of a list, and the next word may be the tag that chooses an
alternative, such as `corpora.*.files.`; the labels of the rows then begin after it.  Without a tag (`corpora.*.`),
each alternative has its own table, below its description.  A page explains the keys of a class once; other rows
refer to that place.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weebill.configuration.schema import BOUNDS, SETTINGS
from weebill.configuration.settings_schema import Schema, schema_of
from weebill.errors import InputError
from weebill.files import write_text

CONFIG = Path(__file__).parents[2] / "config"
SCHEMAS = Path(__file__).with_name("schemas")  # config/schema is a link to it
TABLE = re.compile(r"(<!-- settings: (\w+) (.+?) -->\n).*?(<!-- end of settings -->)", re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
HEAD = "| key | default | value | meaning |\n|---|---|---|---|\n"
TYPES = {"integer": "whole number", "number": "number", "boolean": "`true`, `false`"}


def files() -> dict[Path, str]:
    """Return the text of each generated file and of each page with generated tables, by path."""
    found = {}
    for kind in SETTINGS:
        schema = schema_of(SETTINGS[kind], words=True)
        found[SCHEMAS / f"{kind}.schema.json"] = _laid_out(schema) + "\n"
    for page in sorted(CONFIG.glob("*.md")):
        found[page] = with_tables(page.read_text(encoding="utf-8"))
    return found


def _laid_out(value: Any, key: str = "", indent: str = "") -> str:
    """Return JSON with one line for each key of a class, so that a changed setting changes one line."""
    above = key in ("", "properties", "$defs")
    if not isinstance(value, dict) or not (above or "properties" in value):
        return json.dumps(value, ensure_ascii=False)
    deeper = f"{indent} "
    lines = [f"{deeper}{json.dumps(k)}: {_laid_out(one, k, deeper)}" for k, one in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def with_tables(text: str) -> str:
    """Return a page with all its tables generated again.  Raises InputError for a marker that names no key."""
    page = _Page()
    for table in TABLE.finditer(text):
        marker, kind = table[1].strip(), table[2]
        if kind not in SETTINGS:
            raise InputError(f"{marker}: no kind '{kind}', expected {', '.join(SETTINGS)}")
        if kind not in page.schemas:
            schema = schema_of(SETTINGS[kind], words=True)
            page.schemas[kind] = _inlined(schema, schema["$defs"])
        heading = ["", *HEADING.findall(text[: table.start()])][-1]
        for place in table[3].split():
            try:
                page.announce(kind, place, heading)
            except (KeyError, StopIteration) as error:
                raise InputError(f"{marker}: no key '{place}'; correct the marker") from error
    return TABLE.sub(lambda one: one[1] + page.table(one[2], one[3].split()) + one[4], text)


def _inlined(rule: Any, definitions: Schema) -> Any:
    """Return a rule with each `$ref` replaced by its class, with the class's name, and required keys marked."""
    if isinstance(rule, list):
        return [_inlined(one, definitions) for one in rule]
    if not isinstance(rule, dict):
        return rule
    if "$ref" in rule:
        name = rule["$ref"].removeprefix("#/$defs/")
        rule = {"class": name, **definitions[name], **rule}
    found = {key: _inlined(one, definitions) for key, one in rule.items() if key != "$defs"}
    for key, one in rule.get("properties", {}).items():
        found["properties"][key]["is required"] = key in rule["required"]
        if "description" not in one:  # its class may have one
            found["properties"][key].pop("description", None)
    return found


@dataclass(frozen=True)
class _Page:
    """Tables of one page, from schemas by kind, without `$ref`.

    told: the place that explains the keys of each class.  rows: all rows so far; tables of alternatives omit them.
    """

    schemas: dict[str, Schema] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    rows: set[tuple[str, ...]] = field(default_factory=set)

    def announce(self, kind: str, place: str, heading: str) -> None:
        """Record the class whose keys a table explains, so that no other table explains them again."""
        label, rule = self._find(kind, place)
        if "class" in rule and not place.endswith("!"):
            self.told[rule["class"]] = f"under “{heading}”" if place[-1] in ".:" else f"`{label}`"

    def table(self, kind: str, places: list[str]) -> str:
        """Return a table, or one for each alternative of a place."""
        rows = []
        for place in places:
            label, rule = self._find(kind, place)
            if place[-1] in ".:" and "oneOf" in rule:
                return "".join(map(self._alternative, rule["oneOf"])) + "\n"
            if place[-1] in ".:":
                label = label.rpartition(".")[2] if place.endswith(":") else label
                rows += self._below(rule, f"{label}." if label else "")
            else:
                found = list(self._key(label, rule))
                rows += found[:1] if place.endswith("!") else found
        self.rows.update(rows)
        return _table(rows)

    def _alternative(self, rule: Schema) -> str:
        """Return the name, the description and the table of an alternative, without rows of other tables."""
        [name] = _tags(rule).values()
        rows = [row for row in self._below(rule, "") if row not in self.rows]
        table = f"\n{_table(rows)}" if rows else ""
        return f"\n**{name}**: {rule['description']}\n{table}"

    def _find(self, kind: str, place: str) -> tuple[str, Schema]:
        """Return the label of a place in the tables, and its rule."""
        label, rule = "", self.schemas[kind]
        for part in place.rstrip(".:!").split("."):
            key = part.removesuffix("[]")
            if "oneOf" in rule:
                rule = next(one for one in rule["oneOf"] if key in _tags(one).values())
            elif key == "*":
                label, rule = "", rule["additionalProperties"]
            else:
                label, rule = f"{label}.{key}" if label else key, rule["properties"][key]
            if part.endswith("[]"):
                label, rule = "", rule["items"]
        return label, rule

    def _below(self, rule: Schema, prefix: str) -> Iterator[tuple[str, ...]]:
        for key, below in rule["properties"].items():
            if key not in _tags(rule) and "description" in below:
                yield from self._key(f"{prefix}{key}", below)

    def _key(self, label: str, rule: Schema) -> Iterator[tuple[str, ...]]:
        """Yield the row of a key, and the rows of the keys in its object, or in objects of its list or mapping."""
        inner, inside = rule, label
        if "items" in rule:
            inner, inside = rule["items"].get("oneOf", [rule["items"]])[-1], f"{label}[]"
        elif rule.get("additionalProperties"):
            inner, inside = rule["additionalProperties"], f"{label}.NAME"
        told = self.told.setdefault(inner["class"], f"`{label}`") if "class" in inner else ""
        here = told == f"`{label}`"
        # The keys of overrides have no sentences.
        explained = any("description" in one for one in inner.get("properties", {}).values())
        more = f" Its keys: {told}." if told and not here and explained else ""
        meaning = f"{rule['description']}{more}".replace("|", "\\|")
        yield f"`{label}`", _default(rule), _value(rule), meaning
        if here:
            yield from self._below(inner, f"{inside}.")


def _value(rule: Schema) -> str:
    if "oneOf" in rule:
        tags = [tag for option in rule["oneOf"] for tag in _tags(option).items()]
        lists = [_value(one) for one in rule["oneOf"] if not _tags(one)]
        names = [f"{tags[0][0]}: " + ", ".join(f"`{tag}`" for _, tag in tags)] if tags else []
        return " or ".join([*names, *lists])
    if "enum" in rule or "const" in rule:
        return ", ".join(f"`{one}`" for one in rule.get("enum", [rule.get("const")]))
    if "items" in rule:
        return f"list: {_value(rule['items'])}"
    if rule["type"] == "object" and rule.get("additionalProperties"):
        return f"names: {_value(rule['additionalProperties'])}"
    bounds = [f"{word} {rule[bound]}" for bound, (_, word) in BOUNDS.items() if bound in rule]
    if "minimum" in rule and "maximum" in rule:
        bounds = [f"{rule['minimum']} to {rule['maximum']}"]
    name = "keys" if rule["type"] == "object" else TYPES.get(rule["type"], "text")
    return ", ".join([rule.get("expected", name).removeprefix("a "), *bounds])


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    return HEAD + "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)


def _tags(rule: Schema) -> dict[str, Any]:
    """Return the keys of an object that choose it among alternatives, with their values."""
    keys = rule.get("properties", {}).items()
    return {k: one["const"] for k, one in keys if "const" in one and "default" not in one}


def _default(rule: Schema) -> str:
    """Return a default in YAML; empty for a required key, a dash for an optional key without default."""
    default = rule.get("default")
    if rule.get("is required"):
        return ""
    if default in (None, {}):
        return "–"
    if isinstance(default, float) and default < 1e-4:
        default = f"{default:f}".rstrip("0").ljust(3, "0")
    most = f", at most {rule['share']:g} × `{rule['follows']}`" if "follows" in rule else ""
    return f"`{default if isinstance(default, str) else json.dumps(default)}`{most}"


if __name__ == "__main__":
    for path, text in files().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
            print(path, file=sys.stderr)
