"""Miniature of a generation experiment."""

import json
from typing import Any

from weebill.corpus.importers.records import JSON_LINES, TABLE
from weebill.experiment.zoo import Zoo
from weebill.rehearsal.miniature.evaluation import RESAMPLES
from weebill.rehearsal.miniature.shapes import with_small_model
from weebill.rehearsal.miniature.stand_ins import StandIns
from weebill.rehearsal.miniature.trainings import FEW, SENTENCES, at_most, short_generation_training

Config = dict[str, Any]
LONGEST_SOURCE, LONGEST_TARGET = 48, 16
NEW_TOKENS = 8
ARTICLES, HELD_OUT = 60, 12
PARAGRAPHS = 300  # of a training text of running text, which is drawn in blocks
WINDOW = 32


def small(config: Config, zoo: Zoo, stand_ins: StandIns, full: bool) -> Config:
    """Return the miniature's sections, without those common to all kinds of experiments; all pipelines stay."""
    models = {name: _model(entry, stand_ins) for name, entry in config["models"].items()}
    return {
        "data": {name: _data(name, entry, stand_ins) for name, entry in config["data"].items()},
        "models": models,
        "steps": {name: _step(entry) for name, entry in config["steps"].items()},
        "pipelines": config["pipelines"],
        "evaluation": _evaluation(config["evaluation"]),
    }


def _model(entry: Config, stand_ins: StandIns) -> Config:
    made = at_most(entry, max_source=LONGEST_SOURCE, max_target=LONGEST_TARGET)
    if entry["by"] == "making":
        made = at_most(made, positions=2 * LONGEST_SOURCE, passage=WINDOW)
        made |= {"width": 4 * entry["heads"], "feed_forward": 32, "vocabulary": 320}
        return made | {"training": short_generation_training(entry["training"])}
    return with_small_model(made, "generator", stand_ins)


def _step(entry: Config) -> Config:
    made = at_most(entry, examples=4)
    if "training" in entry:
        made["training"] = short_generation_training(entry["training"])
    return made


def _data(name: str, entry: Config, stand_ins: StandIns) -> Config:
    """Return the text with at most two files of each part, under the names of its own fields."""
    made = dict(entry)
    for part in ("train", "validation", "test"):
        made[part] = []
        for number, given in enumerate(entry[part][:FEW]):
            path = _original(name, part, number, given)
            texts = _articles if entry["task"] == "summarization" else _running_text
            lines = texts(entry, part == "train", path.endswith(JSON_LINES), stand_ins)
            made[part].append({"path": stand_ins.file(path, lines)})
    return made


def _original(name: str, part: str, number: int, given: Config) -> str:
    """Return the path of a part's file; that of a data set of the hub is its place in the configuration."""
    path = given.get("path", "")
    kept = path and "://" not in path and not path.endswith(TABLE)
    return path if kept else f"data/{name}/{part}.{number}.jsonl"


def _articles(entry: Config, train: bool, as_json: bool, stand_ins: StandIns) -> list[str]:
    """Return JSON Lines of articles, each with its first sentence as summary."""
    count = ARTICLES if train else HELD_OUT
    texts = stand_ins.sentences("en", 4 * count)
    article, summary = (entry["fields"].get(key) or key for key in ("article", "summary"))
    rows = (texts[4 * number : 4 * number + 4] for number in range(count))
    return [_row({article: " ".join(row), summary: row[0]}) for row in rows]


def _running_text(entry: Config, train: bool, as_json: bool, stand_ins: StandIns) -> list[str]:
    """Return lines of running text, each followed by an empty one, or JSON Lines of them."""
    count = PARAGRAPHS if train else PARAGRAPHS // 8
    texts = stand_ins.sentences("en", count)
    lines = [line for text in texts for line in (text, "")]
    if not as_json:
        return lines
    rows = lines if entry["rows"] == "lines" else texts
    return [_row({entry["fields"].get("text") or "text": row}) for row in rows]


def _row(fields: dict[str, str]) -> str:
    """Return a row as JSON; dots in a name lead into nested fields."""
    row: dict[str, Any] = {}
    for name, text in fields.items():
        place, *path = [row, *name.split(".")]
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = text
    return json.dumps(row, ensure_ascii=False)


def _evaluation(evaluation: Config) -> Config:
    speed = at_most(evaluation["speed"], examples=FEW, given=SENTENCES)
    return {
        **at_most(evaluation, resamples=RESAMPLES),
        "search": at_most(evaluation["search"], max_tokens=LONGEST_TARGET, min_tokens=4),
        "perplexity": {"window": WINDOW, "stride": WINDOW // 2},
        "speed": {**speed, "new_tokens": NEW_TOKENS, "rounds": 1},
    }
