"""Checks of the students' training options against the rest of a configuration."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from weebill.configuration.schema import Fault, unknown
from weebill.corpus.cleaning.characters import CASED_SCRIPTS, LANGUAGE_SCRIPTS
from weebill.corpus.robustness import KINDS
from weebill.errors import Key
from weebill.experiment.student_names import (
    LARGEST_SEED,
    architecture_of,
    first_of,
    repeats,
    text_of,
)
from weebill.experiment.training_texts import KINDS as TEXT_KINDS
from weebill.experiment.training_texts import corpora_of, training_texts
from weebill.experiment.translating_models import translating_models
from weebill.experiment.zoo import Zoo, attention_blocks, members
from weebill.pruning.recipes import made_students, methods_of

Config = dict[str, Any]

# Sections that `stage_faults` reads.
STAGED = (
    "corpora",
    "distillation",
    "reverse_teacher",
    "scoring",
    "students",
    "teacher",
    "training",
)


def augmentation_faults(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for augmentation that adds nothing, or changes the case of a script without case."""
    shares = config["distillation"].get("augmentation")
    if shares is None:
        return
    place = ("distillation", "augmentation")
    if not any(shares[kind] for kind in KINDS):
        yield Fault(place, f"found no share above 0, expected one of {', '.join(KINDS)}")
    for side, language in config["languages"].items():
        script = LANGUAGE_SCRIPTS.get(language)
        for kind in ("upper_case", "title_case"):
            if shares[kind] and script is not None and script not in CASED_SCRIPTS:
                message = f"found {shares[kind]}, expected 0, as the {side} language '{language}' has no case"
                yield Fault((*place, kind), message)


def stage_faults(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each stage of a training that never starts, or that leaves no text to learn."""
    texts = _students_corpora(config)
    augmented = "augmentation" in config["distillation"]
    yield from _stages(("training",), config["training"], config, texts, augmented)
    teachers = corpora_of(config, "parallel")
    if config["teacher"]["back_translated"]:
        teachers += corpora_of(config, "backward")
    training = config["teacher"]["training"]
    yield from _stages(("teacher", "training"), training, config, [teachers], augmented=False)
    for place, model in translating_models(config):
        if place != ("teacher",) and model["training"]["stages"]:
            message = "found stages, expected none: reversed text does not tell its corpora apart"
            yield Fault((*place, "training", "stages"), message)


def _students_corpora(config: Config) -> list[list[str]]:
    """Return the corpora of every training text that some student learns."""
    texts = training_texts(config)
    names = {text_of(student) or next(iter(texts)) for student in config["students"]}
    return [
        [corpus for kind in kinds for corpus in corpora_of(config, kind)]
        for name, kinds in texts.items()
        if name in names
    ]


def _stages(
    place: tuple[Key, ...],
    training: Config,
    config: Config,
    texts: list[list[str]],
    augmented: bool,
) -> Iterator[Fault]:
    stages, whole = training["stages"], training["updates"]
    for index, stage in enumerate(stages):
        here, last = (*place, "stages", index), index == len(stages) - 1
        if last and "updates" in stage:
            message = f"found {stage['updates']}, expected none: the last stage lasts to the end"
            yield Fault((*here, "updates"), message)
        elif not last and "updates" not in stage:
            message = "missing, expected a whole number: the last stage alone lasts to the end"
            yield Fault((*here, "updates"), message)
        if not stage["augmented"] and not augmented:
            message = "found false, expected text of students with distillation.augmentation"
            yield Fault((*here, "augmented"), message)
        for name in stage["copies"]:
            if name not in config["corpora"]:
                message = unknown("corpus", name, config["corpora"], "corpora")
                yield Fault((*here, "copies", name), message)
        if any(text and not any(stage["copies"].get(n, 1) for n in text) for text in texts):
            yield Fault((*here, "copies"), "leaves no text to train on, expected some copies")
    before = sum(stage.get("updates", 0) for stage in stages[:-1])
    if stages and before >= whole:
        key = ".".join(map(str, place))
        message = (
            f"found {before} updates before the last, expected less than {key}.updates {whole}"
        )
        yield Fault((*place, "stages"), message)


def guided_teachers(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each model that alignments should guide, but that is not a student."""
    for place, model in translating_models(config):
        weight = model["training"]["guided_alignment"]
        if weight:
            message = f"found {weight}, expected 0: alignments guide students alone"
            yield Fault((*place, "training", "guided_alignment"), message)


def guided_heads(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe that may remove the head that alignments guide.

    That is the first head of the last cross-attention.
    """
    if not config["training"]["guided_alignment"]:
        return
    methods = methods_of(config)
    for student, name in made_students(config):
        entry = zoo.get(student)
        if entry is None or len(members(entry)) > 1:  # reported as faults of `students`
            continue
        if found := methods[name].guided_fault(student, list(attention_blocks(entry))[-1]):
            key, message = found
            yield Fault(("pruning", name, *key), message)


def seed_faults(config: Mapping[str, Any], zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each student with an invalid seed, or with a seed that repeats no other student."""
    for index, student in enumerate(config["students"]):
        place, first, seed = ("students", index), first_of(student), student.partition("~")[2]
        if not repeats(student):
            continue
        if not re.fullmatch("0|[1-9][0-9]{0,9}", seed) or int(seed) > LARGEST_SEED:
            message = f"found '{student}', expected a seed behind the ~, 0 to {LARGEST_SEED}"
            yield Fault(place, message)
        elif int(seed) == config["seed"]:
            yield Fault(place, f"found '{student}', expected another seed than the experiment's")
        elif first not in config["students"]:
            message = f"found '{student}', expected '{first}' too, which it repeats"
            yield Fault(place, message)


def text_faults(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each kind of text that no corpus provides."""
    for name, kinds in config["distillation"]["training_texts"].items():
        for index, kind in enumerate(kinds):
            if not corpora_of(config, kind):
                message = f"found {kind}, expected a corpus with use: {TEXT_KINDS[kind]}"
                yield Fault(("distillation", "training_texts", name, index), message)
    if config["teacher"]["back_translated"] and not corpora_of(config, "backward"):
        message = f"found true, expected a corpus with use: {TEXT_KINDS['backward']}"
        yield Fault(("teacher", "back_translated"), message)


def text_names(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each student with an unknown text, or without a student to compare with."""
    texts = config["distillation"]["training_texts"]
    for index, student in enumerate(config["students"]):
        place, name, text = ("students", index), architecture_of(student), text_of(student)
        if text is None:
            continue
        if text not in texts:
            where = "distillation.training_texts"
            yield Fault(place, unknown("training text", text, texts, where))
        elif text == next(iter(texts)):
            message = f"found '{student}', expected '{name}': students without a text learn this"
            yield Fault(place, message)
        elif name not in config["students"]:
            message = f"found '{student}', expected '{name}' too, which it is compared with"
            yield Fault(place, message)


def augmented_share(config: Mapping[str, Any]) -> float:
    """Return the amount of text that augmentation adds, as a share of the students' training text."""
    shares = config["distillation"].get("augmentation", {})
    return sum(shares.get(kind, 0.0) * (2 if kind == "merged" else 1) for kind in KINDS)
