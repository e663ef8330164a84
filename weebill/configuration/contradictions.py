"""Contradictions between the keys of a well-formed translation experiment, or between its keys and the zoo."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from weebill.configuration import data, models, schedules, scores
from weebill.configuration.metric import precision_faults
from weebill.configuration.schema import Config, Fault, Place, at, unknown
from weebill.configuration.sections.evaluation import MinimumBayesRisk
from weebill.corpus.cleaning.characters import LANGUAGE_SCRIPTS
from weebill.errors import nearest
from weebill.experiment.precisions import ACTIVATION_SCALES, PRECISIONS
from weebill.experiment.training_texts import corpora_of
from weebill.experiment.variants import UNPRUNED, Variant, matching, precisions, recipes
from weebill.experiment.zoo import Zoo
from weebill.settings import defaults


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
        message = "found none with use: parallel, expected at least one to train on"
        yield Fault(("corpora",), message)


def _vocabulary(config: Config, zoo: Zoo) -> Iterator[Fault]:
    teachers = [config[name] for name in ("teacher", "reverse_teacher") if name in config]
    named = [*config["students"], *(teacher.get("architecture") for teacher in teachers)]
    sizeless = [name for name in named if name in zoo and "vocabulary" not in zoo[name]]
    if sizeless and "size" not in config["vocabulary"]:
        message = "missing, expected a number of pieces, as the zoo gives none for "
        yield Fault(("vocabulary", "size"), message + ", ".join(sizeless))


def _variants(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, pattern in at(config, "variants.*"):
        yield from _pattern(place, pattern, config)


def _pattern(place: Place, pattern: str, config: Config) -> Iterator[Fault]:
    student, recipe, precision = pattern.split("/")
    problems = [
        _part("student", student, config["students"], "students"),
        _part("recipe", recipe, recipes(config), "pruning"),
        _precision(precision, config),
    ]
    if not any(problems) and not any(matching(pattern, config)):
        problems = [f"found '{pattern}', expected a pattern that matches a variant"]
    yield from (Fault(place, problem) for problem in problems if problem)


def _exports(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, pattern in at(config, "exports.*.*"):
        faults = list(_pattern(place, pattern, config))
        yield from faults
        for variant in matching(pattern, config) if not faults else ():
            if problem := _cannot_hold(str(place[1]), variant, zoo):
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
    yield from precision_faults(config, "evaluation.comet.precision")
    evaluation = config["evaluation"]
    if evaluation.get("mbr", {}).get("utility") == "comet" and "comet" not in evaluation:
        message = "found comet without evaluation.comet, expected its model there, or chrf or bleu"
        yield Fault(("evaluation", "mbr", "utility"), message)


def _mbr(config: Config, zoo: Zoo) -> Iterator[Fault]:
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
    for place, name in at(
        config, "evaluation.engines.architectures.*", "evaluation.cleaning.student"
    ):
        yield from models.zoo_fault(place, name, zoo, single=True)


def _columns(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, name in at(config, "report.columns.*.*.*"):
        if name not in config["test_sets"]:
            yield Fault(place, unknown("test set", name, config["test_sets"], "test_sets"))


def _rows(config: Config, zoo: Zoo) -> Iterator[Fault]:
    ours = [*config["students"], "teacher"]
    for name, rows in config["report"]["rows"].items():
        if name not in ours:
            yield Fault(("report", "rows", name), unknown("student", name, ours, "students"))
        for paper, row in rows.items():
            printed = [model for model, entry in zoo.items() if entry.get("paper") == paper]
            if row not in printed:
                message = unknown("row", row, printed, f"table 1 of {paper}")
                yield Fault(("report", "rows", name, paper), message)


CHECKS = (
    _languages,
    _parallel_corpus,
    *data.CHECKS,
    *scores.CHECKS,
    *models.CHECKS,
    _vocabulary,
    models.recipe_names,
    models.conflicts,
    *schedules.CHECKS,
    _variants,
    models.amounts,
    _exports,
    _measured_models,
    _comet,
    _mbr,
    _columns,
    _rows,
)
