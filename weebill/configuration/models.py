"""Checks of an experiment's models: teachers, students, their texts and seeds, and their pruning recipes."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from weebill.configuration.schema import Config, Fault, Place, at, unknown
from weebill.corpus.cleaning.characters import CASED_SCRIPTS, LANGUAGE_SCRIPTS
from weebill.corpus.robustness import KINDS
from weebill.experiment.searches import is_search
from weebill.experiment.student_names import LARGEST_SEED, architecture_of, text_of
from weebill.experiment.training_texts import KINDS as TEXT_KINDS
from weebill.experiment.training_texts import corpora_of, training_texts
from weebill.experiment.translating_models import HUB_NAME, translating_models
from weebill.experiment.variants import UNPRUNED
from weebill.experiment.zoo import Zoo, attention_blocks, members
from weebill.pruning.method import Method
from weebill.pruning.recipes import made_students, methods_of, shape_of


def zoo_fault(place: Place, name: str, zoo: Zoo, single: bool = False) -> Iterator[Fault]:
    """Yield a fault if the zoo has no model of this name, or an ensemble instead of a single model."""
    if name not in zoo:
        yield Fault(place, unknown("model", name, zoo, "config/models.yaml"))
    elif single and len(members(zoo[name])) > 1:
        yield Fault(place, f"found '{name}', an ensemble, expected a single model")


def width_fault(place: Place, model: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for a width that the heads of a model do not divide."""
    if model["width"] % model["heads"]:
        message = f"found {model['width']}, expected a multiple of its {model['heads']} heads"
        yield Fault((*place, "width"), message)


def origin_faults(place: Place, section: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a model that is not either of the zoo or from Hugging Face, or has keys of the other kind."""
    name, foreign = section.get("architecture"), section.get("hugging_face")
    if (name is None) == (foreign is None):
        found = "neither" if name is None else "both"
        yield Fault(place, f"found {found}, expected one of architecture, hugging_face")
    elif name is not None:
        yield from zoo_fault((*place, "architecture"), name, zoo)
    if foreign is None:
        for key in ("revision", "language_codes"):
            if key in section:
                message = "found without hugging_face, expected it beside hugging_face alone"
                yield Fault((*place, key), message)
    elif "revision" in section and not HUB_NAME.fullmatch(foreign):
        message = f"found '{foreign}' beside revision, expected OWNER/MODEL as on the hub"
        yield Fault((*place, "hugging_face"), message)


def teachers(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each teacher that can be neither trained nor read, and for a missing reverse teacher."""
    for section in ("teacher", "reverse_teacher"):
        if section not in config:
            continue
        teacher = config[section]
        yield from origin_faults((section,), teacher, zoo)
        name, count = teacher.get("architecture"), teacher["members"]
        listed = len(members(zoo[name])) if name in zoo else 1
        if listed not in (1, count):
            expected = f"{listed}, the models that '{name}' lists in config/models.yaml"
            yield Fault((section, "members"), f"found {count}, expected {expected}")
        elif "hugging_face" in teacher and count != 1:
            message = f"found {count}, expected 1, as hugging_face names one model"
            yield Fault((section, "members"), message)
        if "hugging_face" in teacher and teacher.get("back_translated"):
            message = (
                "found true beside hugging_face, expected false: such a teacher is not trained"
            )
            yield Fault((section, "back_translated"), message)
    names = corpora_of(config, "backward")
    if names and "reverse_teacher" not in config:
        message = f"missing, expected the teacher that translates corpus '{names[0]}' back"
        yield Fault(("reverse_teacher",), message)


def texts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each kind of text that no corpus provides."""
    for place, kind in at(config, "distillation.training_texts.*.*"):
        if not corpora_of(config, kind):
            message = f"found {kind}, expected a corpus with use: {TEXT_KINDS[kind]}"
            yield Fault(place, message)
    if config["teacher"]["back_translated"] and not corpora_of(config, "backward"):
        message = f"found true, expected a corpus with use: {TEXT_KINDS['backward']}"
        yield Fault(("teacher", "back_translated"), message)


def augmentation(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for augmentation that adds nothing, or changes the case of a script without case."""
    shares = config["distillation"].get("augmentation")
    if shares is None:
        return
    place = ("distillation", "augmentation")
    if not any(shares[kind] for kind in KINDS):
        yield Fault(place, f"found no share above 0, expected one of {', '.join(KINDS)}")
    for side, language in config["languages"].items():
        if LANGUAGE_SCRIPTS.get(language) in (None, *CASED_SCRIPTS):
            continue
        for kind in ("upper_case", "title_case"):
            if shares[kind]:
                message = f"found {shares[kind]}, expected 0, as the {side} language '{language}' has no case"
                yield Fault((*place, kind), message)


def students(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each student that is not a single model of the zoo."""
    for place, name in at(config, "students.*"):
        yield from zoo_fault(place, name, zoo, single=True)


def text_names(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each student with an unknown text, or without a student to compare with."""
    named = config["distillation"]["training_texts"]
    for place, student in at(config, "students.*"):
        name, text = architecture_of(student), text_of(student)
        message = None
        if text is not None and text not in named:
            message = unknown("training text", text, named, "distillation.training_texts")
        elif text is not None and text == next(iter(named)):
            message = f"found '{student}', expected '{name}': students without a text learn this"
        elif text is not None and name not in config["students"]:
            message = f"found '{student}', expected '{name}' too, which it is compared with"
        if message:
            yield Fault(place, message)


def seeds(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each student with an invalid seed, or with a seed that repeats no other student."""
    for place, student in at(config, "students.*"):
        first, mark, seed = student.partition("~")
        expected = None
        if mark and not (re.fullmatch("0|[1-9][0-9]{0,9}", seed) and int(seed) <= LARGEST_SEED):
            expected = f"a seed behind the ~, 0 to {LARGEST_SEED}"
        elif mark and int(seed) == config["seed"]:
            expected = "another seed than the experiment's"
        elif mark and first not in config["students"]:
            expected = f"'{first}' too, which it repeats"
        if expected:
            yield Fault(place, f"found '{student}', expected {expected}")


def stages(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each stage of a training that never starts, or that leaves no text to learn."""
    named = training_texts(config)
    learnt = {text_of(student) or next(iter(named)) for student in config["students"]}
    corpora = [
        [corpus for kind in kinds for corpus in corpora_of(config, kind)]
        for name, kinds in named.items()
        if name in learnt
    ]
    augmented = "augmentation" in config["distillation"]
    yield from _stages(("training",), config["training"], config, corpora, augmented)
    teacher = config["teacher"]
    kinds = ["parallel", "backward"] if teacher["back_translated"] else ["parallel"]
    taught = [corpus for kind in kinds for corpus in corpora_of(config, kind)]
    yield from _stages(("teacher", "training"), teacher["training"], config, [taught], False)
    for place, model in translating_models(config):
        if place != ("teacher",) and model["training"]["stages"]:
            message = "found stages, expected none: reversed text does not tell its corpora apart"
            yield Fault((*place, "training", "stages"), message)


def _stages(
    place: Place, training: Config, config: Config, corpora: list[list[str]], augmented: bool
) -> Iterator[Fault]:
    """Yield the faults of a training's stages; corpora: those of each text that it may learn."""
    every, whole = training["stages"], training["updates"]
    for index, stage in enumerate(every):
        here, last = (*place, "stages", index), index == len(every) - 1
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
        if any(text and not any(stage["copies"].get(n, 1) for n in text) for text in corpora):
            yield Fault((*here, "copies"), "leaves no text to train on, expected some copies")
    before = sum(stage.get("updates", 0) for stage in every[:-1])
    if before >= whole:
        expected = f"less than {'.'.join(map(str, place))}.updates {whole}"
        message = f"found {before} updates before the last, expected {expected}"
        yield Fault((*place, "stages"), message)


def guided(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each model that alignments should guide, but that is not a student."""
    for place, model in translating_models(config):
        if weight := model["training"]["guided_alignment"]:
            message = f"found {weight}, expected 0: alignments guide students alone"
            yield Fault((*place, "training", "guided_alignment"), message)


def guided_heads(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe that may remove the guided head, the first of the last cross-attention."""
    for student, name, method in _pruned(config, zoo):
        guided = list(attention_blocks(zoo[student]))[-1]
        found = method.guided_fault(student, guided)
        if found and config["training"]["guided_alignment"]:
            key, message = found
            yield Fault(("pruning", name, *key), message)


def amounts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for blocks, heads, neurons and layers that a student does not have, or cannot lose."""
    for student, name, method in _pruned(config, zoo):
        for key, message in method.faults({student: shape_of(zoo[student])}):
            yield Fault(("pruning", name, *key), message)


def _pruned(config: Config, zoo: Zoo) -> Iterator[tuple[str, str, Method]]:
    """Yield the student, recipe and method of every pruned student, except those that `students` reports."""
    methods = methods_of(config)
    for student, name in made_students(config):
        if student in zoo and len(members(zoo[student])) == 1:
            yield student, name, methods[name]


def recipe_names(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe whose name has another meaning already."""
    for name in config["pruning"]:
        if name == UNPRUNED or is_search(name):
            meaning = "as trained" if name == UNPRUNED else "with this search"
            message = f"found a recipe of this name, expected another: it stands for the student {meaning}"
            yield Fault(("pruning", name), message)


def conflicts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe whose settings contradict each other, or another recipe."""
    methods = methods_of(config)
    for name, method in methods.items():
        for key, message in method.conflicts(methods):
            yield Fault(("pruning", name, *key), message)


CHECKS = (teachers, texts, augmentation, students, text_names, seeds, stages, guided, guided_heads)
