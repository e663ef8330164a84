"""Pages of what the benchmarks measured, from the figures that they wrote to docs/results."""

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from docs.site.contents import REPOSITORY
from weebill.benchmarks import Row
from weebill.benchmarks.page import number, page
from weebill.benchmarks.survey import Survey

RESULTS = REPOSITORY / "docs/results"


def benchmarks_page() -> str:
    """Return the page of benchmarks.json: a table for each benchmark."""
    return page(Survey.read(RESULTS / "benchmarks.json"))


def gpu_page() -> str:
    """Return the page of gpu/h100.json: figures of one card beside other libraries and the card's peak."""
    found = json.loads((RESULTS / "gpu/h100.json").read_text("utf-8"))
    head = "| work | ours | other | unit | ours / other |\n|---|---:|---:|---|---:|\n"
    tables = [
        f"## {part.capitalize()}\n\n{head}{''.join(map(_gpu_row, rows))}"
        for part, rows in groupby(found["rows"], key=lambda row: row["part"])
    ]
    return (
        f"# Speed on one {found['card']}\n\n"
        f"`weebill benchmark gpu` measured these figures on one {found['card']}, {found['date']}. The other library "
        "is transformers, for the encoder of metrics too; the first table is what the card itself reaches.\n\n"
        + "\n".join(tables)
    )


def _gpu_row(row: Mapping[str, Any]) -> str:
    other = "–" if row.get("other") is None else number(row["other"])
    ratio = "–" if row.get("ratio") is None else f"{row['ratio']:.2f}"
    work = ", ".join(_distinct((row["name"], row.get("precision") or "")))
    return f"| {work} | {number(row['ours'])} | {other} | {row['unit']} | {ratio} |\n"


def _distinct(words: Iterable[str]) -> list[str]:
    """Return the words without empty ones and without those that an earlier one contains."""
    kept: list[str] = []
    for word in words:
        if word and not any(word in one for one in kept):
            kept.append(word)
    return kept


def row_of(file: str, key: str) -> Row:
    """Return the row with this key of a file of benchmarks in docs/results; KeyError if there is none."""
    found = json.loads((RESULTS / file).read_text("utf-8"))
    fields = Row.__dataclass_fields__
    for row in found.get("survey", found)["rows"]:
        if row["key"] == key:
            return Row(**{name: row[name] for name in fields})
    raise KeyError(f"{file}: {key}")
