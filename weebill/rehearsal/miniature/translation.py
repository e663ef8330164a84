"""Miniature of a translation experiment."""

from collections.abc import Mapping
from typing import Any

from weebill.corpus.download import is_url
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.experiment.student_names import architecture_of
from weebill.experiment.zoo import Zoo
from weebill.rehearsal.miniature import evaluation
from weebill.rehearsal.miniature.shapes import small_zoo, with_small_model
from weebill.rehearsal.miniature.stand_ins import Model, StandIns
from weebill.rehearsal.miniature.texts import (
    few_best,
    few_corpora,
    few_tests,
    small_corpus,
    small_test_set,
    small_validation,
)
from weebill.rehearsal.miniature.trainings import (
    FEW,
    at_most,
    short_quantization,
    short_recipe,
    short_training,
)
from weebill.rehearsal.miniature.variants import Chosen

SHARD_ROWS = 1000
ALIGNED = 100  # pairs
PIECES = {"size": 504, "source_size": 528}
Config = dict[str, Any]


def small(config: Config, zoo: Zoo, stand_ins: StandIns, full: bool) -> Config:
    """Return the miniature's sections, without those common to all kinds of experiments."""
    chosen = Chosen(config, zoo, full)
    languages = (config["languages"]["source"], config["languages"]["target"])
    by_origin = config["evaluation"].get("original_languages", [])
    tests = few_tests([*by_origin, *config["test_sets"]], config["report"]["columns"], by_origin)
    corpora = few_corpora(config["corpora"], _named_corpora(config))
    made = {
        "languages": config["languages"],
        "architectures": small_zoo(zoo, _architectures(config, chosen)),
        "validation": small_validation(config["validation"], languages, stand_ins),
        "validation_may_overlap_tests": config["validation_may_overlap_tests"],
        "test_sets": {
            name: small_test_set(
                name, config["test_sets"][name], languages, stand_ins, name in by_origin
            )
            for name in tests
        },
        "corpora": {
            name: small_corpus(name, config["corpora"][name], languages, stand_ins)
            for name in corpora
        },
        "cleaning": _cleaning(config["cleaning"], languages, stand_ins),
        "back_translation": few_best(config["back_translation"]),
        "scoring": _scoring(config, languages, stand_ins),
        "vocabulary": _vocabulary(config["vocabulary"]),
        "teacher": _teacher(config["teacher"], languages, stand_ins, zoo),
        "students": chosen.students,
        "training": _training(config["training"], corpora),
        "distillation": _distillation(config, chosen),
        "pruning": {name: short_recipe(config["pruning"][name]) for name in chosen.recipes},
        "quantization": short_quantization(config["quantization"]),
        "variants": ["/".join(one) for one in chosen.variants],
        "exports": chosen.exports(),
        "bleu": config["bleu"],
        "evaluation": evaluation.small(config, chosen, languages, tests, stand_ins, zoo),
        "report": _report(config["report"], tests, chosen.students),
    }
    if "reverse_teacher" in config:
        reverse = languages[::-1]
        made["reverse_teacher"] = _teacher(config["reverse_teacher"], reverse, stand_ins, zoo)
    if "shortlist" in config:
        made["shortlist"] = {**config["shortlist"], "pairs": ALIGNED}
    if "published" in config:
        made["published"] = config["published"]
    return made


def _named_corpora(config: Config) -> list[str]:
    """Return the corpora that other keys name."""
    text = config["evaluation"]["speed"].get("gpu_text")
    stages = (stage["copies"] for stage in config["training"]["stages"])
    return [*([text["corpus"]] if text else []), *(name for one in stages for name in one)]


def _architectures(config: Config, chosen: Chosen) -> list[str]:
    """Return the entries of the zoo that the miniature trains or times."""
    sections = (config["teacher"], config.get("reverse_teacher", {}))
    trained = [*sections, config["scoring"].get("reverse_model", {})]
    names = [section["architecture"] for section in trained if "architecture" in section]
    names += [architecture_of(student) for student in chosen.students]
    measured = config["evaluation"]
    names += [measured[key]["student"] for key in ("cleaning",) if key in measured]
    return [*names, *measured.get("engines", {}).get("architectures", [])]


def _vocabulary(vocabulary: Config) -> Config:
    """Return small vocabularies; their sizes differ if the sides have vocabularies of their own."""
    return {**vocabulary, **{key: size for key, size in PIECES.items() if key in vocabulary}}


def _cleaning(cleaning: Config, languages: tuple[str, str], stand_ins: StandIns) -> Config:
    """Return the cleaning with small shards and an identifier of the stand-in languages."""
    small = {**few_best(cleaning), "shard_rows": SHARD_ROWS}
    its = cleaning.get("language_id")
    if its is None or its["model"] == EMBEDDED:
        return small
    identifier = Model("identifier", languages=languages)
    others = {key: value for key, value in its.items() if key not in ("model", "sha256")}
    if is_url(its["model"]):
        address = stand_ins.address(f"{stand_ins.experiment}.language_id.ftz", identifier)
        return {**small, "language_id": {**others, **address}}
    return {**small, "language_id": {**others, "model": stand_ins.model(its["model"], identifier)}}


def _teacher(section: Config, languages: tuple[str, str], stand_ins: StandIns, zoo: Zoo) -> Config:
    """Return a translating model's section with at most two members and a short training."""
    small = at_most(section, members=FEW, threads=1)
    if "training" in section:
        small["training"] = short_training(section["training"])
    if "hugging_face" in section:
        return with_small_model(small, "translator", stand_ins, languages=languages)
    return small


def _training(training: Config, corpora: list[str]) -> Config:
    """Return the students' short training, whose stages copy only corpora that exist."""
    small = short_training(training)
    for stage in small["stages"]:
        stage["copies"] = {name: n for name, n in stage["copies"].items() if name in corpora}
    return small


def _distillation(config: Config, chosen: Chosen) -> Config:
    section = config["distillation"]
    texts = {"", *(name.partition("@")[2].partition("~")[0] for name in chosen.students)}
    first = next(iter(section["training_texts"]), None)
    return {
        **at_most(few_best(section), shards=FEW),
        "min_teacher_bleu": 0,
        "training_texts": {
            name: kinds
            for name, kinds in section["training_texts"].items()
            if name in {*texts, first}
        },
    }


def _scoring(config: Config, languages: tuple[str, str], stand_ins: StandIns) -> Config:
    """Return the models that score rows, with short trainings and little text."""
    small = dict(config["scoring"])
    if "reverse_model" in small:
        small["reverse_model"] = _teacher(small["reverse_model"], languages[::-1], stand_ins, {})
    for name in ("language_model", "lexical_translation"):
        if name in small:
            small[name] = {**small[name], **_scoring_text(small[name], languages, stand_ins)}
    small["language_model"]["memory_mb"] = 100
    if "lexical_translation" in small:
        small["lexical_translation"]["pairs"] = ALIGNED
    if "training" in small.get("bicleaner", {}):
        few = {"pairs": 100, "vocabulary": 300, "embedding": 8, "hidden": 8, "epochs": 1}
        training = {**small["bicleaner"]["training"], **few}
        small["bicleaner"] = {**small["bicleaner"], "training": training}
    return small


def _scoring_text(
    section: Mapping[str, Any], languages: tuple[str, str], stand_ins: StandIns
) -> Config:
    """Return the text of a model that scores rows: at most two stand-in files of each side."""
    keys = [key for key in ("source_text", "target_text") if key in section]
    found: dict[str, list[str]] = {key: [] for key in keys}
    for number in range(min(FEW, *(len(section[key]) for key in keys)) if keys else 0):
        lines = stand_ins.sides(languages, ALIGNED)
        for key in keys:
            side = key.removesuffix("_text")
            found[key].append(stand_ins.file(section[key][number], lines[side]))
    return found


def _report(report: Config, tests: list[str], students: list[str]) -> Config:
    """Return the papers' columns and rows for the remaining test sets and students."""
    return {
        "columns": {
            paper: {
                column: [t for t in its if t in tests] or tests[:1]
                for column, its in columns.items()
            }
            for paper, columns in report["columns"].items()
        },
        "rows": {
            name: its for name, its in report["rows"].items() if name in (*students, "teacher")
        },
    }
