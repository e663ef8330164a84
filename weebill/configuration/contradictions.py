"""Contradictions between the keys of a well-formed configuration, or between its keys and the zoo.

Every check names the sections that it reads, and is skipped if one of them has a fault of its own.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from weebill.configuration import data, pruning, schedules, scores, students, teachers
from weebill.configuration.metric import precision_faults
from weebill.configuration.schema import Fault, contradicted, unknown
from weebill.configuration.sections.evaluation import MinimumBayesRisk
from weebill.corpus.cleaning.characters import LANGUAGE_SCRIPTS
from weebill.errors import nearest
from weebill.experiment.precisions import ACTIVATION_SCALES, PRECISIONS
from weebill.experiment.student_names import with_students
from weebill.experiment.training_texts import corpora_of
from weebill.experiment.variants import (
    UNPRUNED,
    Variant,
    matching,
    precisions,
    recipes,
)
from weebill.experiment.zoo import Zoo, members
from weebill.settings import defaults

Config = dict[str, Any]


def contradictions(config: Config, zoo: Zoo, broken: set[str]) -> list[Fault]:
    """Return every contradiction in a translation experiment; checks that read `broken` sections are skipped."""
    if "students" not in broken:
        zoo = with_students(zoo, config["students"])
    checks = [
        (("languages",), _languages),
        (("corpora",), _parallel_corpus),
        (("corpora", "validation", "test_sets"), data.entry_faults),
        (("languages", "corpora", "validation", "test_sets", "cleaning"), data.embedded_languages),
        (("languages", "corpora", "validation", "test_sets"), data.sacrebleu_sets),
        (("languages", "corpora", "validation", "test_sets"), data.named_corpora),
        (("corpora", "validation", "validation_may_overlap_tests", "test_sets"), data.overlaps),
        (("corpora",), data.noise),
        (("cleaning",), data.language_id),
        (("corpora", *scores.STAGES), scores.cuts),
        (("corpora", *scores.STAGES), scores.overrides),
        ((*scores.STAGES, "scoring"), scores.bicleaner),
        ((*scores.STAGES, "scoring", "vocabulary"), scores.reverse_model),
        (("corpora", *scores.STAGES, "scoring", "reverse_teacher"), scores.reverse_teacher),
        ((*scores.STAGES, "scoring"), scores.lexical_translation),
        ((*scores.STAGES, "evaluation"), scores.combined),
        (("corpora", "teacher", "reverse_teacher"), teachers.teacher_faults),
        (("corpora", "teacher", "distillation"), students.text_faults),
        (("languages", "distillation"), students.augmentation_faults),
        (("students",), _students),
        (("students", "distillation"), students.text_names),
        (("seed", "students"), students.seed_faults),
        (students.STAGED, students.stage_faults),
        (("reverse_teacher", "scoring", "teacher"), students.guided_teachers),
        (("pruning", "students", "training", "variants"), students.guided_heads),
        (("teacher", "reverse_teacher", "students", "vocabulary"), _vocabulary),
        (("pruning",), pruning.recipe_names),
        (("pruning",), pruning.conflicts),
        (("pruning", "training"), pruning.updates),
        (("teacher",), schedules.trained("teacher")),
        (("reverse_teacher",), schedules.trained("reverse_teacher")),
        (("scoring",), schedules.trained("scoring", "reverse_model")),
        (("training",), schedules.students),
        (("pruning", "training"), schedules.pruned),
        (("quantization",), schedules.finetunings),
        (("students", "pruning", "quantization", "variants"), _variants),
        (("students", "pruning", "quantization", "variants"), pruning.amounts),
        (("students", "pruning", "quantization", "exports"), _exports),
        (("evaluation",), _measured_models),
        (("evaluation", "hardware"), _comet),
        (("evaluation",), _mbr),
        (("test_sets", "report"), _columns),
        (("students", "report"), _rows),
    ]
    return contradicted(checks, broken, config, zoo)


def _languages(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for side, language in config["languages"].items():
        if language not in LANGUAGE_SCRIPTS:
            message = f"no language '{language}' in weebill, expected a code of ISO 639-1"
            yield Fault(("languages", side), message + nearest(language, LANGUAGE_SCRIPTS))
    if len(set(config["languages"].values())) == 1:
        found = config["languages"]["target"]
        message = f"found '{found}' as source too, expected two languages"
        yield Fault(("languages", "target"), message)


def _parallel_corpus(config: Config, zoo: Zoo) -> Iterator[Fault]:
    if not corpora_of(config, "parallel"):
        yield Fault(
            ("corpora",), "found none with use: parallel, expected at least one to train on"
        )


def _students(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for index, name in enumerate(config["students"]):
        if name not in zoo:
            yield Fault(("students", index), unknown("model", name, zoo, "config/models.yaml"))
        elif len(members(zoo[name])) > 1:
            message = f"found '{name}', an ensemble, expected a single model"
            yield Fault(("students", index), message)


def _vocabulary(config: Config, zoo: Zoo) -> Iterator[Fault]:
    if "size" in config["vocabulary"]:
        return
    models = [config[name] for name in ("teacher", "reverse_teacher") if name in config]
    named = [*config["students"], *(model.get("architecture") for model in models)]
    sizeless = [name for name in named if name in zoo and "vocabulary" not in zoo[name]]
    if sizeless:
        message = (
            f"missing, expected a number of pieces, as the zoo gives none for {', '.join(sizeless)}"
        )
        yield Fault(("vocabulary", "size"), message)


def _variants(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for index, pattern in enumerate(config["variants"]):
        yield from _pattern(("variants", index), pattern, config)


def _pattern(place: tuple, pattern: str, config: Config) -> Iterator[Fault]:
    student, recipe, precision = pattern.split("/")
    problems = [
        _part("student", student, config["students"], "students"),
        _part("recipe", recipe, recipes(config), "pruning"),
        _precision(precision, config),
    ]
    found = [problem for problem in problems if problem]
    yield from (Fault(place, problem) for problem in found)
    if not found and not any(matching(pattern, config)):
        yield Fault(place, f"found '{pattern}', expected a pattern that matches a variant")


def _exports(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for form, patterns in config["exports"].items():
        for index, pattern in enumerate(patterns):
            place = ("exports", form, index)
            faults = list(_pattern(place, pattern, config))
            yield from faults
            for variant in matching(pattern, config) if not faults else ():
                problem = _cannot_hold(form, variant, zoo)
                if problem:
                    yield Fault(place, f"found '{'/'.join(variant)}', {problem}")


def _cannot_hold(form: str, variant: Variant, zoo: Zoo) -> str | None:
    """Return the reason why a format cannot hold a variant, or None if it can."""
    student, recipe, _ = variant
    entry = zoo.get(student)
    if entry is None:  # reported as a fault of `students`
        return None
    if form == "ctranslate2" and entry["decoder"] != "attention":
        return "expected a student with a self-attention decoder; CTranslate2 has no SSRU"
    if form == "ctranslate2" and recipe != UNPRUNED:
        return "expected an unpruned student; CTranslate2 wants as many heads in every layer"
    size = entry["attention_width"] // entry["heads"]
    if form == "marian" and entry["embedding"] % size:
        return f"expected heads that divide the embedding; Marian cannot hold heads of {size}"
    return None


def _part(kind: str, pattern: str, known: list[str], section: str) -> str | None:
    if any(fnmatchcase(name, pattern) for name in known):
        return None
    if any(mark in pattern for mark in "*?["):
        return f"no {kind} matches '{pattern}', expected one of {', '.join(known)}"
    return unknown(kind, pattern, known, section)


def _precision(pattern: str, config: Config) -> str | None:
    if any(fnmatchcase(name, pattern) for name in precisions(config)):
        return None
    named = [name for name in PRECISIONS if fnmatchcase(name, pattern)]
    if not named:
        return _part("precision", pattern, list(PRECISIONS), "quantization")
    grid, _, made = named[0].partition("-")
    key = f"quantization.{grid}"
    if made and grid in config["quantization"]:
        if made == config["quantization"][grid].get("activation_scale"):
            return f"precision '{named[0]}' is '{grid}' here, as {key}.activation_scale is '{made}'"
        key += ".compare_activation_scales" if made in ACTIVATION_SCALES else ".finetune"
    return f"precision '{named[0]}' has no settings, expected the key {key}"


def _comet(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for the utility `comet` without a model, and for a precision that the device lacks."""
    evaluation = config["evaluation"]
    if "comet" in evaluation:
        precision = evaluation["comet"]["precision"]
        yield from precision_faults(config, precision, "evaluation", "comet", "precision")
    if evaluation.get("mbr", {}).get("utility") == "comet" and "comet" not in evaluation:
        yield Fault(
            ("evaluation", "mbr", "utility"),
            "found comet without evaluation.comet, expected its model there, or chrf or bleu",
        )


def _mbr(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for more kept candidates than candidates, and for sampling settings with beam search."""
    mbr, place = config["evaluation"].get("mbr"), ("evaluation", "mbr")
    if mbr is None:
        return
    if mbr.get("kept", 0) > mbr["candidates"]:
        message = f"found {mbr['kept']}, expected at most mbr.candidates {mbr['candidates']}"
        yield Fault((*place, "kept"), message)
    usual = defaults(MinimumBayesRisk)
    for key in ("temperature", "epsilon"):
        if mbr["by"] == "beam" and mbr[key] != usual[key]:
            yield Fault((*place, key), f"found {mbr[key]} with by: beam, expected by: sampling")


def _measured_models(config: Config, zoo: Zoo) -> Iterator[Fault]:
    evaluation = config["evaluation"]
    engines = evaluation.get("engines", {}).get("architectures", [])
    named = [(("engines", "architectures", index), name) for index, name in enumerate(engines)]
    if "cleaning" in evaluation:
        named.append((("cleaning", "student"), evaluation["cleaning"]["student"]))
    for key, name in named:
        place = ("evaluation", *key)
        if name not in zoo:
            yield Fault(place, unknown("model", name, zoo, "config/models.yaml"))
        elif len(members(zoo[name])) > 1:
            yield Fault(place, f"found '{name}', an ensemble, expected a single model")


def _columns(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for paper, columns in config["report"]["columns"].items():
        for column, names in columns.items():
            for index, name in enumerate(names):
                if name not in config["test_sets"]:
                    place = ("report", "columns", paper, column, index)
                    yield Fault(place, unknown("test set", name, config["test_sets"], "test_sets"))


def _rows(config: Config, zoo: Zoo) -> Iterator[Fault]:
    ours = [*config["students"], "teacher"]
    for name, rows in config["report"]["rows"].items():
        if name not in ours:
            yield Fault(("report", "rows", name), unknown("student", name, ours, "students"))
        for paper, row in rows.items():
            printed = [model for model, entry in zoo.items() if entry.get("paper") == paper]
            if row not in printed:
                place = ("report", "rows", name, paper)
                yield Fault(place, unknown("row", row, printed, f"table 1 of {paper}"))
