"""Main memory that a translation experiment's largest jobs will ask for, in MiB, before their input exists."""

from collections.abc import Mapping
from typing import Any

from weebill.configuration.cost import Work
from weebill.configuration.resources import (
    ENCODED_SHARE,
    alignment_memory,
    drawing_vocabulary,
    estimating,
    searching,
    training_memory,
)
from weebill.experiment.scores import asked_for
from weebill.files import MIB
from weebill_runtime.names import SIDES

SEARCHES = {"teacher": "translate_shard", "reverse_teacher": "back_translate_shard"}


def largest_jobs(work: Work, parallel: float, distilled: float) -> dict[str, float]:
    """Return the memory of the jobs that may be the largest, by rule.

    parallel, distilled: bytes of the tables that teachers and students learn from.
    """
    config, hardware = work.config, work.config["hardware"]
    threads = hardware["threads"] if hardware["accelerator"] == "cpu" else 1
    asked, scoring = asked_for(config), config["scoring"]

    def training(architecture: str, settings: Mapping[str, Any], tables: float) -> float:
        own = training_memory(config, architecture, settings["batch_tokens"], (), work.zoo)
        return own + ENCODED_SHARE * tables / MIB

    found: dict[str, float] = {"train_vocabulary": drawing_vocabulary(parallel or distilled)}
    for name, model in work.models.items():
        if "architecture" in model and (name != "reverse_model" or name in asked):
            place = model["architecture"], model["training"]
            found[f"train_{name}"] = training(*place, parallel)
    for name, rule in SEARCHES.items():
        if work.networks.get(name):
            found[rule] = searching(_stored(work, name), threads)
    if "published" not in config:
        found["train_student"] = max(
            training(student, config["training"], distilled) for student in config["students"]
        )
    if any(f"language_model_{side}" in asked for side in SIDES):
        text = sum(size.source for size in work.corpora)
        found["language_model"] = estimating(scoring["language_model"], text)
    if "lexical_translation" in asked:
        found["lexical_translation"] = alignment_memory(scoring["lexical_translation"]["pairs"])
    if "shortlist" in config:
        found["make_shortlist"] = alignment_memory(config["shortlist"]["pairs"])
    return found


def timing_memory(work: Work) -> float:
    """Return the memory that the timing of variants asks for each of its cores; 0 if the teacher's is not known."""
    return searching(_stored(work, "teacher")) if work.networks.get("teacher") else 0.0


def _stored(work: Work, name: str) -> float:
    """Return the bytes of a translating model, all members of an ensemble together."""
    return sum(4.0 * own.stored for own in work.networks[name])
