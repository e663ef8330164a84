"""A model card in the format of the Hugging Face hub, and its place in a model's folder."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from weebill.files import write_text
from weebill.report import noise
from weebill.report.cards.sources import UNKNOWN, DataSource

FILE = "README.md"
END = "<!-- The card ends here. -->"  # an export's own notes follow


@dataclass(frozen=True)
class Score:
    """Score on a test set, with its 95 % interval if there is one, and the signature of its metric."""

    data: str
    metric: str
    value: float
    low: float | None
    high: float | None
    signature: str


@dataclass(frozen=True)
class Card:
    """Contents of a card.  facts: (name, value) of size and speed.  command: example of the use of the model."""

    name: str
    task: str  # of the hub's tasks, such as "translation"
    languages: Sequence[str]
    about: str
    intended: str
    command: str
    scores: Sequence[Score] = ()
    facts: Sequence[tuple[str, str]] = ()
    tags: Sequence[str] = field(default=())


def render(card: Card, config: Mapping[str, Any], sources: Sequence[DataSource]) -> str:
    """Return the card as Markdown with the hub's YAML before it."""
    page = Path(__file__).with_name("card.txt").read_text(encoding="utf-8")
    template = Environment(undefined=StrictUndefined, trim_blocks=True).from_string(page)
    return template.render(
        head=yaml.safe_dump(_head(card), sort_keys=False, allow_unicode=True),
        card=card,
        config=config,
        sources=sources,
        signatures=dict.fromkeys((one.metric, one.signature) for one in card.scores),
        unknown=[one for one in sources if one.licence == UNKNOWN],
        note=noise.NOTE if any(noise.MARK in value for _, value in card.facts) else "",
    )


def _head(card: Card) -> dict[str, Any]:
    """Return the hub's fields.  The card's text names the licences, because data may have several."""
    results = [
        {
            "task": {"type": card.task},
            "dataset": {"name": one.data, "type": re.sub(r"\W+", "-", one.data.lower())},
            "metrics": [{"type": one.metric.lower(), "value": round(one.value, 4)}],
        }
        for one in card.scores
    ]
    head = {
        "language": list(card.languages),
        "license": "other",
        "license_name": "see-data-and-licences",
        "library_name": "weebill",
        "pipeline_tag": card.task,
        "tags": list(card.tags),
    }
    if results:
        head["model-index"] = [{"name": card.name, "results": results}]
    return {key: value for key, value in head.items() if value}


def install(text: str, folder: Path) -> None:
    """Put a card into the folder of a model or export, before the export's own notes."""
    path, notes = folder / FILE, ""
    if path.exists():
        before, mark, after = path.read_text(encoding="utf-8").partition(END)
        notes = after if mark else f"\n\n{before}"
    write_text(path, text.rstrip() + f"\n\n{END}{notes.rstrip()}\n")
