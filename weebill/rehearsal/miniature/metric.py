"""Miniature of a metric experiment."""

import re
from typing import Any

from weebill.configuration.schema import at
from weebill.experiment.metrics import PARTS
from weebill.experiment.zoo import Zoo
from weebill.rehearsal.miniature.evaluation import RESAMPLES, small_checkpoint
from weebill.rehearsal.miniature.judged import judged_lines, scores_of, system_lines
from weebill.rehearsal.miniature.shapes import small_zoo, with_small_model
from weebill.rehearsal.miniature.stand_ins import StandIns
from weebill.rehearsal.miniature.trainings import (
    FEW,
    SENTENCES,
    at_most,
    short_pretraining,
    short_regression,
    short_training,
)

Config = dict[str, Any]
PAIR = re.compile(r"(?<![a-z])([a-z]{2})-([a-z]{2})(?![a-z])")  # languages in a name
SENTENCES_OF_TEXTS = 400
PIECES = 600  # of a tokenizer, for letters of several scripts
ROWS, TRAINED, VALIDATED = 40, 120, 16  # pairs to translate, to train translators on, to validate
LEARNING = 64  # updates of a translator, whose translations must not all be empty
TIMED = 6  # segments


def small(config: Config, zoo: Zoo, stand_ins: StandIns, full: bool) -> Config:
    """Return the miniature's sections, without those common to all kinds of experiments."""
    distillation, languages = config.get("distillation"), _languages(config)
    made: Config = {
        "sentences": min(config["sentences"], SENTENCES_OF_TEXTS),
        "vocabulary": min(config["vocabulary"], PIECES),
        "encoders": {
            name: _encoder(name, entry, languages, stand_ins)
            for name, entry in config["encoders"].items()
        },
        "reference": _reference(config["reference"], languages, stand_ins),
        "test_sets": {
            name: _judged_set(name, config["test_sets"][name], stand_ins)
            for name in _few_tests(config["test_sets"], full)
        },
        "metrics": config["metrics"],
        "evaluation": _evaluation(config["evaluation"], stand_ins),
    }
    if "texts" in config:
        spoken = dict(zip(config["texts"][:FEW], languages, strict=False))
        made["texts"] = [
            stand_ins.file(
                path, [one for one, _ in stand_ins.pairs((language,) * 2, SENTENCES_OF_TEXTS)]
            )
            for path, language in spoken.items()
        ]
    if "pruning" in config:
        made["pruning"] = _pruning(config["pruning"], stand_ins)
    if distillation is not None:
        made["distillation"] = _distillation(distillation, stand_ins, full)
        ways = at(made, "distillation.pairs.*.translations.*")
        names = [way["architecture"] for _, way in ways if way["by"] == "training"]
        made["architectures"] = small_zoo(zoo, names)
    return made


def _languages(config: Config) -> tuple[str, ...]:
    """Return the languages of the test sets' names and of the pairs, English and German first."""
    found = ["en", "de"]
    for name in config["test_sets"]:
        found += [code for pair in PAIR.findall(name) for code in pair]
    for pairs in config.get("distillation", {}).get("pairs", {}).values():
        found += [pairs["languages"]["source"], pairs["languages"]["target"]]
    return tuple(dict.fromkeys(found))


def _encoder(name: str, entry: Config, languages: tuple[str, ...], stand_ins: StandIns) -> Config:
    if entry["by"] != "hugging_face":
        return short_pretraining(entry)
    return with_small_model(entry, "encoder", stand_ins, languages=languages)


def _reference(reference: Config, languages: tuple[str, ...], stand_ins: StandIns) -> Config:
    made = at_most(reference, members=FEW)
    made["training"] = short_regression(reference["training"])
    made["validation_share"] = max(reference["validation_share"], 0.3)
    if "judgements" in reference:
        made["judgements"] = _judgements(reference["judgements"], stand_ins)
    if "checkpoint" in reference:
        made["checkpoint"] = small_checkpoint(reference["checkpoint"], languages, stand_ins)
        made.pop("encoder", None)
    return made


def _judgements(entries: list[Config], stand_ins: StandIns) -> list[Config]:
    """Return at most two stand-in tables of judgements of English-German translations."""
    return [
        {
            **entry,
            "table": stand_ins.file(
                entry["table"], judged_lines(entry["score"], ("en", "de"), stand_ins)
            ),
        }
        for entry in entries[:FEW]
    ]


def _judged_set(name: str, entry: Config, stand_ins: StandIns) -> Config:
    """Return a judged set whose table, and further metrics' scores, are stand-ins in the languages of its name."""
    found = PAIR.search(name) or PAIR.search(entry["table"])
    languages = found.groups() if found else ("en", "de")
    lines = judged_lines(entry["score"], languages, stand_ins, references=entry["references"])
    scores = {
        metric: stand_ins.file(path, scores_of(len(lines) - 1))
        for metric, path in entry["scores"].items()
    }
    made = {**entry, "table": stand_ins.file(entry["table"], lines), "scores": scores}
    # The scale of differences that a `darr` set counts is the table's own.
    return made | ({"held_out": 0.3} if "held_out" in entry else {})


def _few_tests(tests: Config, full: bool) -> list[str]:
    """Choose test sets: one for each combination of statistic and keys, and two at least."""
    if full:
        return list(tests)
    kinds: dict[tuple[Any, ...], str] = {}
    for name, entry in tests.items():
        keys = ("statistic", "humans", "references")
        kinds.setdefault(
            (*(entry[key] for key in keys), *entry["scores"], "held_out" in entry), name
        )
    chosen = list(dict.fromkeys([*kinds.values(), *tests]))[: max(FEW, len(kinds))]
    return [name for name in tests if name in chosen]


def _pruning(pruning: Config, stand_ins: StandIns) -> Config:
    made = {
        **at_most(pruning, segments=SENTENCES),
        "judgements": _judgements(pruning["judgements"], stand_ins),
        "development": _judged_set("development", pruning["development"], stand_ins),
    }
    ends = {part: list(dict.fromkeys([*pruning[part][:1], *pruning[part][-1:]])) for part in PARTS}
    return made | ends


def _distillation(distillation: Config, stand_ins: StandIns, full: bool) -> Config:
    pairs = distillation["pairs"]
    # Kinds of translations, and the first pairs that have them.
    ways: dict[tuple[str, ...], str] = {}
    for name, one in pairs.items():
        ways.setdefault(tuple(way["by"] for way in one["translations"].values()), name)
    chosen = list(dict.fromkeys([*ways.values(), *pairs]))[: max(FEW, len(ways))]
    return {
        **distillation,
        "pairs": {
            name: _pairs(name, pairs[name], stand_ins) for name in (pairs if full else chosen)
        },
        "translation": at_most(distillation["translation"], shards=FEW),
        "validation_share": max(distillation["validation_share"], 0.3),
        "training": short_regression(distillation["training"]),
    }


def _pairs(name: str, entry: Config, stand_ins: StandIns) -> Config:
    """Return text to translate, and its translators."""
    languages = (entry["languages"]["source"], entry["languages"]["target"])
    trained = any(way["by"] == "training" for way in entry["translations"].values())
    apart = {"rows": TRAINED, "validation": VALIDATED, "vocabulary": 500} if trained else {}
    rows = ROWS + (TRAINED + VALIDATED if trained else 0)
    sides = stand_ins.sides(languages, rows)
    made = {**entry, "translators": entry["translators"] | apart}
    if "rows" in entry:
        made["rows"] = rows
    if "table" in entry:
        columns = {
            **sides,
            "corpus": [name] * rows,
            "row": list(range(rows)),
            "dropped_by": [None] * rows,
        }
        if "bicleaner" in entry:
            columns["bicleaner"] = [0.9] * rows
        made["table"] = stand_ins.table(entry["table"], columns)
    else:
        made |= {side: stand_ins.file(entry[side], lines) for side, lines in sides.items()}
    made["translations"] = {
        way: _way(one, languages, stand_ins) for way, one in entry["translations"].items()
    }
    return made


def _way(way: Config, languages: tuple[str, str], stand_ins: StandIns) -> Config:
    """Return a way to translate with small models."""
    if way["by"] == "training":
        return {**way, "training": short_training(way["training"], LEARNING)}
    codes = way.get("languages") or languages
    models = []
    for number, given in enumerate(way["models"]):
        on_hub, spoken = isinstance(given, dict), tuple(codes[number : number + 2])
        entry = given if on_hub else {"hugging_face": given}
        made = with_small_model(entry, "translator", stand_ins, languages=spoken)
        models.append(made if on_hub else made["hugging_face"])
    return {**way, "models": models}


def _evaluation(evaluation: Config, stand_ins: StandIns) -> Config:
    made = at_most(evaluation, resamples=RESAMPLES, permutations=SENTENCES)
    if "speed" not in evaluation:
        return made
    speed = evaluation["speed"]
    pairs = stand_ins.pairs(("en", "de"), TIMED)
    sources, references = zip(*pairs, strict=True)
    small_speed = {
        **at_most(speed, segments=TIMED - 2),
        "sources": stand_ins.file(speed["sources"], sources),
        "systems": [
            stand_ins.file(path, system_lines(references, number))
            for number, path in enumerate(speed["systems"][:FEW])
        ],
        "candidates": [2, 3],
        "candidate_sources": 1,
        "rounds": 1,
    }
    if "references" in speed:
        small_speed["references"] = stand_ins.file(speed["references"], references)
    return {**made, "speed": small_speed}
