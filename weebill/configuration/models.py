"""Checks of an experiment's models: teachers, students, their texts and seeds, and their pruning recipes."""

import re
from collections.abc import Iterator, Mapping
from itertools import starmap
from typing import Any

from weebill.configuration.schema import Config, Fault, Place, absent, at, unknown
from weebill.corpus.language_codes import has_case
from weebill.corpus.robustness import KINDS
from weebill.corpus.sources import address_faults
from weebill.experiment.searches import is_search
from weebill.experiment.student_names import LARGEST_SEED, architecture_of, text_of
from weebill.experiment.training_texts import KINDS as TEXT_KINDS
from weebill.experiment.training_texts import corpora_of, training_texts
from weebill.experiment.translating_models import HUB_NAME, translating_models
from weebill.experiment.variants import UNPRUNED
from weebill.experiment.zoo import Zoo, members
from weebill.pruning.recipes import made_students, methods_of, shape_of

BYTES = 256  # pieces of a vocabulary with `byte_fallback` that stand for bytes
SMALLEST_WITH_BYTES = BYTES + 100


def zoo_fault(place: Place, name: str, zoo: Zoo, single: bool = False) -> Iterator[Fault]:
    """Yield a fault if the zoo has no model of this name, or an ensemble instead of a single model."""
    if name not in zoo:
        yield Fault(place, unknown("model", name, zoo, "config/models.yaml"))
    elif single and len(members(zoo[name])) > 1:
        yield Fault(place, f"found '{name}', an ensemble, expected a single model")


def width_fault(place: Place, model: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault if a model's width is not a multiple of its number of heads."""
    if model["width"] % model["heads"]:
        message = f"found {model['width']}, expected a multiple of its {model['heads']} heads"
        yield Fault((*place, "width"), message)


def origin_faults(place: Place, section: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault unless a model is either from the zoo or from Hugging Face, with only the keys of its kind."""
    name, foreign = section.get("architecture"), section.get("hugging_face")
    if section.get("published"):
        if name is not None or foreign is not None:
            yield Fault((*place, "published"), "found true beside another origin, expected one")
    elif (name is None) == (foreign is None):
        found = "neither" if name is None else "both"
        yield Fault(place, f"found {found}, expected one of architecture, hugging_face")
    elif name is not None:
        yield from zoo_fault((*place, "architecture"), name, zoo)
    if foreign is None:
        for key in ("revision", "language_codes"):
            if key in section:
                message = "found without hugging_face, expected it beside hugging_face alone"
                yield Fault((*place, key), message)
    else:
        yield from hub_name_fault(place, section)


def hub_name_fault(place: Place, section: Config) -> Iterator[Fault]:
    """Yield a fault for a model with a revision of the hub whose name is not one of the hub."""
    name = section.get("hugging_face")
    if "revision" in section and not HUB_NAME.fullmatch(name):
        message = f"found '{name}' beside revision, expected OWNER/MODEL as on the hub"
        yield Fault((*place, "hugging_face"), message)


def _teachers(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each teacher that can be neither trained nor read, and for a missing reverse teacher."""
    for place, teacher in at(config, "teacher|reverse_teacher"):
        yield from origin_faults(place, teacher, zoo)
        name, count = teacher.get("architecture"), teacher["members"]
        given = "published" if teacher.get("published") else "hugging_face"
        foreign = bool(teacher.get(given))
        listed = len(members(zoo[name])) if name in zoo else 1
        if listed not in (1, count):
            expected = f"{listed}, the models that '{name}' lists in config/models.yaml"
            yield Fault((*place, "members"), f"found {count}, expected {expected}")
        elif foreign and count != 1:
            message = f"found {count}, expected 1, as {given} names one model"
            yield Fault((*place, "members"), message)
        if foreign and teacher.get("back_translated"):
            expected = "false: such a teacher is not trained"
            message = f"found true beside {given}, expected {expected}"
            yield Fault((*place, "back_translated"), message)
        if teacher.get("published") and "published" not in config:
            message = "found true, expected the section published beside it"
            yield Fault((*place, "published"), message)
    names = corpora_of(config, "backward")
    if names and "reverse_teacher" not in config:
        message = f"missing, expected the teacher that translates corpus '{names[0]}' back"
        yield Fault(("reverse_teacher",), message)


def _texts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    wanted = [(place, kind, kind) for place, kind in at(config, "distillation.training_texts.*.*")]
    if config["teacher"]["back_translated"]:
        wanted.append((("teacher", "back_translated"), "backward", "true"))
    for place, kind, found in wanted:
        if not corpora_of(config, kind):
            yield Fault(place, f"found {found}, expected a corpus with use: {TEXT_KINDS[kind]}")


def _augmentation(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for augmentation that adds nothing, or changes the case of a script without case."""
    for place, shares in at(config, "distillation.augmentation"):
        if not any(shares[kind] for kind in KINDS):
            yield Fault(place, f"found no share above 0, expected one of {', '.join(KINDS)}")
        for side, language in config["languages"].items():
            expected = f"expected 0, as the {side} language '{language}' has no case"
            for kind in ("upper_case", "title_case"):
                if shares[kind] and not has_case(language):
                    yield Fault((*place, kind), f"found {shares[kind]}, {expected}")


def _students(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, name in at(config, "students.*"):
        yield from zoo_fault(place, name, zoo, single=True)
        if architecture_of(name) == "teacher":
            message = (
                "expected another name for the architecture: results of the teacher have this one"
            )
            yield Fault(place, f"found '{name}', {message}")


def _names(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each student with an invalid text or seed, or with no student to compare it with."""
    texts, students = config["distillation"]["training_texts"], config["students"]
    for place, student in at(config, "students.*"):
        name, text = architecture_of(student), text_of(student)
        if text is not None and text not in texts:
            yield Fault(place, unknown("training text", text, texts, "distillation.training_texts"))
        elif text is not None and text == next(iter(texts)):
            message = f"found '{student}', expected '{name}': students without a text learn this"
            yield Fault(place, message)
        elif text is not None and name not in students:
            message = f"found '{student}', expected '{name}' too, which it is compared with"
            yield Fault(place, message)
        first, mark, seed = student.partition("~")
        valid = re.fullmatch("0|[1-9][0-9]{0,9}", seed) and int(seed) <= LARGEST_SEED
        if mark and not valid:
            expected = f"expected a seed behind the ~, 0 to {LARGEST_SEED}"
            yield Fault(place, f"found '{student}', {expected}")
        elif mark and int(seed) == config["seed"]:
            yield Fault(place, f"found '{student}', expected another seed than the experiment's")
        elif mark and first not in students:
            yield Fault(place, f"found '{student}', expected '{first}' too, which it repeats")


def _trainings(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for stages that never start or leave no text to learn, and for options that need students."""
    kinds = training_texts(config)
    learnt = {text_of(student) or next(iter(kinds)) for student in config["students"]}
    texts = [kinds[name] for name in kinds if name in learnt]
    augmented = "augmentation" in config["distillation"]
    yield from _stages(("training",), config["training"], config, texts, augmented)
    teacher = config["teacher"]
    taught = ["parallel", "backward"] if teacher["back_translated"] else ["parallel"]
    yield from _stages(("teacher", "training"), teacher["training"], config, [taught], False)
    most, translated = config["distillation"]["max_source_tokens"], [("training",)]
    translated += [("teacher", "training")] * teacher["back_translated"]
    for place in translated:
        for key, found in at(config, ".".join([*place, "max_pieces"])):
            if found > most:
                expected = f"at most distillation.max_source_tokens {most}: translations of longer text lack its end"
                yield Fault(key, f"found {found}, expected {expected}")
    for place, model in translating_models(config):
        if place != ("teacher",) and model["training"]["stages"]:
            message = "found stages, expected none: reversed text does not tell its corpora apart"
            yield Fault((*place, "training", "stages"), message)
        if weight := model["training"]["guided_alignment"]:
            message = f"found {weight}, expected 0: alignments guide students alone"
            yield Fault((*place, "training", "guided_alignment"), message)


def _stages(
    place: Place, training: Config, config: Config, texts: list[list[str]], augmented: bool
) -> Iterator[Fault]:
    """Yield the faults of a training's stages; texts: kinds of text in each possible training text."""
    corpora = [[one for kind in kinds for one in corpora_of(config, kind)] for kinds in texts]
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
            yield from absent((*here, "copies", name), "corpus", name, config["corpora"], "corpora")
        if any(text and not any(stage["copies"].get(n, 1) for n in text) for text in corpora):
            yield Fault((*here, "copies"), "leaves no text to train on, expected some copies")
    before = sum(stage.get("updates", 0) for stage in every[:-1])
    if before >= whole:
        expected = f"less than {'.'.join(map(str, place))}.updates {whole}"
        message = f"found {before} updates before the last, expected {expected}"
        yield Fault((*place, "stages"), message)


def _vocabulary(config: Config, zoo: Zoo) -> Iterator[Fault]:
    named = list(at(config, "students.*", "teacher|reverse_teacher.architecture"))
    sizeless = [name for _, name in named if name in zoo and "vocabulary" not in zoo[name]]
    if sizeless and "size" not in config["vocabulary"]:
        message = "missing, expected a number of pieces, as the zoo gives none for "
        yield Fault(("vocabulary", "size"), message + ", ".join(sizeless))
    whole = config["vocabulary"].get("size")
    sizes = (
        {whole} if whole else {zoo[name].get("vocabulary", 0) for _, name in named if name in zoo}
    )
    smallest = min(sizes - {0}, default=SMALLEST_WITH_BYTES)
    if config["vocabulary"]["byte_fallback"] and smallest < SMALLEST_WITH_BYTES:
        yield Fault(
            ("vocabulary", "size"),
            f"found {smallest}, expected at least {SMALLEST_WITH_BYTES}, of which {BYTES} stand for bytes; or set "
            "vocabulary.byte_fallback to false",
        )
    own = config["vocabulary"].get("source_size")
    if own is not None and config["vocabulary"]["joint"]:
        message = f"found {own}, expected it beside joint: false alone"
        yield Fault(("vocabulary", "source_size"), message)


def _recipes(config: Config, zoo: Zoo) -> Iterator[Fault]:
    methods = methods_of(config)
    for name, method in methods.items():
        if name == UNPRUNED or is_search(name):
            meaning = "as trained" if name == UNPRUNED else "with this search"
            message = f"found a recipe of this name, expected another: it stands for the student {meaning}"
            yield Fault(("pruning", name), message)
        if not method.shape_from and ("published" in config) != (method.reset_to == 0):
            first = (
                "0: it starts from the published student" if "published" in config else "at least 1"
            )
            yield Fault(("pruning", name, "reset_to"), f"found {method.reset_to}, expected {first}")
        for key, message in method.conflicts(methods):
            yield Fault(("pruning", name, *key), message)


def pruned_students(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for parts that a student does not have or cannot lose."""
    methods = methods_of(config)
    for student, name in made_students(config):
        if student not in zoo or len(members(zoo[student])) > 1:  # reported as faults of `students`
            continue
        found = methods[name].faults({student: shape_of(zoo[student])})
        yield from (Fault(("pruning", name, *key), message) for key, message in found)


def _published(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a published student without origin, or with keys that do not fit one."""
    for place, section in at(config, "published"):
        folder, files = section.get("folder"), section.get("files")
        if (folder is None) == (files is None):
            found = "neither" if folder is None else "both"
            yield Fault(place, f"found {found}, expected one of folder, files")
        for address, digest in (files or {}).items():
            key = (*place, "files", address)
            yield from starmap(Fault, address_faults(key, address, key, digest))
        if not config["training"]["guided_alignment"]:
            expected = "more, such as 0.1: Firefox places tags by the attention that it guides"
            yield Fault(("training", "guided_alignment"), f"found 0.0, expected {expected}")
        if "cleaning" in config["evaluation"]:
            expected = "none beside published: it measures students trained from first weights"
            yield Fault(("evaluation", "cleaning"), f"found a student, expected {expected}")


CHECKS = (
    _published,
    _teachers,
    _texts,
    _augmentation,
    _students,
    _names,
    _trainings,
    _vocabulary,
    _recipes,
)


def precision_faults(config: Config, key: str) -> Iterator[Fault]:
    """Yield a fault for a metric's precision (at a key path) that the experiment's device cannot compute."""
    for place, precision in at(config, key):
        if precision == "int8" and config["hardware"]["accelerator"] != "cpu":
            found = "found int8, which processors compute, with hardware.accelerator gpu"
            yield Fault(place, f"{found}, expected bfloat16 or float32")
