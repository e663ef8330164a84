"""Experiments of the kind `translation`: contradictions, local files, unfit models, cost."""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from weebill.configuration import data, measuring, models, schedules, scores, text_models
from weebill.configuration.cost import SCORED, Work, corpus_sizes
from weebill.configuration.estimates import (
    COMPRESSED,
    JOB,
    TABLE,
    Estimate,
    disk_of,
    starts,
    trained_text,
)
from weebill.configuration.largest_jobs import largest_jobs, timing_memory
from weebill.configuration.local_files import faults, unfit_scorers
from weebill.configuration.rates import Rates
from weebill.configuration.schema import Config, Fault, absent, at, unknown
from weebill.configuration.sections.evaluation import MinimumBayesRisk
from weebill.corpus.download import is_url
from weebill.corpus.language_codes import check_language, standard_tag
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.errors import InputError, key_path
from weebill.experiment.corpora import entries
from weebill.experiment.precisions import ACTIVATION_SCALES, BIASES, PRECISIONS
from weebill.experiment.scores import asked_for
from weebill.experiment.student_names import with_students
from weebill.experiment.training_texts import corpora_of
from weebill.experiment.translating_models import hugging_face_models, may_be_on_hub
from weebill.experiment.variants import (
    UNPRUNED,
    Variant,
    matching,
    measured_variants,
    precisions,
    recipes,
)
from weebill.experiment.zoo import Zoo
from weebill.report.papers import students_of
from weebill.settings import defaults
from weebill_runtime.names import SIDES

# Keys of files and folders, and functions that return True for values that are not local paths.
FILES: dict[str, Callable[[str], bool] | None] = {
    "local_dir": None,
    "published.folder": None,
    "cleaning.language_id.model": lambda path: path == EMBEDDED or is_url(path),
    "scoring.language_model|lexical_translation.source_text|target_text.*": None,
    "scoring.bicleaner.model": is_url,
    "evaluation.labelled.table": None,
    "evaluation.comet.model": may_be_on_hub,
    "evaluation.comet.encoder": None,
}


# Ending of a precision GRID-… → key of the grid that makes it; `finetune` makes other endings.
_SWITCHES = {
    **dict.fromkeys(ACTIVATION_SCALES, "compare_activation_scales"),
    BIASES: "compare_biases",
}
GPU_VARIANTS = "evaluation.speed.gpu_variants.*"


def _languages(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for side, language in config["languages"].items():
        try:
            check_language(language)
        except InputError as error:
            yield Fault(("languages", side), str(error))
    source, target = (config["languages"][side] for side in SIDES)
    if (standard_tag(source) or source) == (standard_tag(target) or target):
        other = "as source too" if source == target else f"and '{source}', which are the same"
        message = f"found '{target}' {other}, expected two languages"
        yield Fault(("languages", "target"), message)


def _nodes(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for trainings on several nodes, which need a separate launcher (see `Hardware`)."""
    if (nodes := config["hardware"]["nodes"]) > 1:
        message = f"found {nodes}, expected 1: Snakemake starts a training on one node"
        yield Fault(("hardware", "nodes"), message)


def _parallel_corpus(config: Config, zoo: Zoo) -> Iterator[Fault]:
    if not corpora_of(config, "parallel"):
        message = "found none with use: parallel, expected at least one to train on"
        yield Fault(("corpora",), message)


def _patterns(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, pattern in at(config, "variants.*", "exports.*.*", GPU_VARIANTS):
        student, recipe, precision = pattern.split("/")
        problems = [
            _part("student", student, config["students"], "students"),
            _part("recipe", recipe, recipes(config), "pruning"),
            _precision(precision, config),
        ]
        if not any(problems):
            variants = list(matching(pattern, config))
            if not variants:
                problems = [f"found '{pattern}', expected a pattern that matches a variant"]
            elif place[0] == "exports":
                form, size = str(place[1]), config["vocabulary"].get("size")
                problems = [_cannot_hold(form, variant, zoo, size) for variant in variants]
            elif place[0] == "evaluation" and not {*variants} & {*measured_variants(config)}:
                problems = [f"found '{pattern}', expected one that matches a variant of `variants`"]
        yield from (Fault(place, problem) for problem in problems if problem)


def _cannot_hold(form: str, variant: Variant, zoo: Zoo, pieces: int | None) -> str | None:
    """Return why a format cannot hold a variant, or None if it can.  pieces: the models' vocabulary size, if set."""
    student, recipe, precision = variant
    entry = zoo.get(student)
    if entry is None:  # reported as a fault of `students`
        return None
    expected, size = None, entry["attention_width"] // entry["heads"]
    if form == "ctranslate2" and entry["decoder"] != "attention":
        expected = "a student with a self-attention decoder; CTranslate2 has no SSRU"
    elif form == "ctranslate2" and recipe != UNPRUNED:
        expected = "an unpruned student; CTranslate2 wants as many heads in every layer"
    elif form in ("marian", "firefox") and entry["embedding"] % size:
        expected = f"heads that divide the embedding; Marian cannot hold heads of {size}"
    elif form in ("marian", "firefox") and entry["attention_width"] > entry["embedding"]:
        expected = (
            "an attention_width up to the embedding width, which Marian's heads have together"
        )
    elif form == "firefox" and precision.split("-")[0] != "int8":
        expected = "the precision int8 or int8-finetuned, which Firefox's students have"
    elif form == "firefox" and entry["embedding"] % 64:
        expected = "an embedding width that is a multiple of 64, which Firefox's engine wants"
    elif form == "firefox" and (pieces := pieces or entry.get("vocabulary") or 0) % 8:
        expected = f"a vocabulary of a multiple of 8 pieces, not {pieces:,}, for Firefox's engine"
    return expected and f"found '{'/'.join(variant)}', expected {expected}"


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
        key += f".{_SWITCHES.get(made, 'finetune')}"
    return f"precision '{named[0]}' has no settings, expected the key {key}"


def _evaluation(config: Config, zoo: Zoo) -> Iterator[Fault]:
    measured = ("evaluation.engines.architectures.*", "evaluation.cleaning.student")
    for place, name in at(config, *measured):
        yield from models.zoo_fault(place, name, zoo, single=True)
    yield from models.precision_faults(config, "evaluation.comet.precision")
    for place, columns in at(config, "evaluation.labelled.columns"):
        if len({*columns.values()}) < len(columns):
            yield Fault(place, f"found {columns}, expected another number for each")
    for place, name in at(config, "evaluation.speed.gpu_text.corpus"):
        known = [one for one in config["corpora"] if one not in corpora_of(config, "backward")]
        yield from absent(place, "corpus", name, known, "corpora with a source side")
    for place, name in at(config, "evaluation.original_languages.*"):
        yield from absent(place, "test set", name, config["test_sets"], "test_sets")
        entry = config["test_sets"].get(name, {"importer": "sacrebleu"})
        whole = entry["importer"] == "sacrebleu" and "written_in" not in entry
        if not whole and "origlang" not in entry:
            expected = "a whole test set of importer sacrebleu, or one of files with `origlang`"
            yield Fault(place, f"found '{name}', expected {expected}")
    for place, mbr in at(config, "evaluation.mbr"):
        if mbr["utility"] == "comet" and "comet" not in config["evaluation"]:
            expected = "its model there, or chrf or bleu"
            message = f"found comet without evaluation.comet, expected {expected}"
            yield Fault((*place, "utility"), message)
        if mbr["by"] == "sampling" and "hugging_face" in config["teacher"]:
            expected = "by: beam; only Weebill's own models are sampled from"
            yield Fault(
                (*place, "by"), f"found sampling from a Hugging Face teacher, expected {expected}"
            )
        if mbr.get("kept", 0) > mbr["candidates"]:
            message = f"found {mbr['kept']}, expected at most mbr.candidates {mbr['candidates']}"
            yield Fault((*place, "kept"), message)
        for key in ("temperature", "epsilon"):
            if mbr["by"] == "beam" and mbr[key] != defaults(MinimumBayesRisk)[key]:
                yield Fault((*place, key), f"found {mbr[key]} with by: beam, expected by: sampling")


def _report(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, name in at(config, "report.columns.*.*.*"):
        yield from absent(place, "test set", name, config["test_sets"], "test_sets")
    ours = [*config["students"], "teacher"]
    for place, rows in at(config, "report.rows.*"):
        yield from absent(place, "student", str(place[2]), ours, "students")
        for paper, row in rows.items():
            shapes = [model for model, entry in zoo.items() if entry.get("paper") == paper]
            printed = [*shapes, *students_of(paper)]
            yield from absent((*place, paper), "row", row, printed, f"table 1 of {paper}")


UNTIMED = ("cleaning", "comet", "engines", "mbr")  # measurements that an estimate does not count

CHECKS = (
    _languages,
    _nodes,
    _parallel_corpus,
    *data.CHECKS,
    *scores.CHECKS,
    *models.CHECKS,
    *schedules.CHECKS,
    _patterns,
    models.pruned_students,
    _evaluation,
    _report,
)


def local_paths(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that the experiment reads."""
    for entry in entries(config):
        yield from data.local_places(entry)
        for place, path in at(entry.values, "noise.other_languages.*"):
            if path != EMBEDDED:
                yield key_path((*entry.path, *place)), path
    for pattern, elsewhere in FILES.items():
        for place, path in at(config, pattern):
            if elsewhere is None or not elsewhere(path):
                yield key_path(place), path
    for model in hugging_face_models(config):
        if model.revision is None:
            yield model.key, model.place


def unfit_models(config: Config) -> list[str]:
    """Return a line for every existing model folder that is not a metric or cannot translate these languages."""
    found = [*unfit_scorers(config)]
    for model in hugging_face_models(config):
        if model.revision is None and Path(model.place).exists():
            from weebill.translation.model.hugging_face_folder import check_folder  # slow to import

            found += faults(model.key, check_folder, model.place, model.languages, model.coded)
    return found


def estimate(config: Config, zoo: Zoo) -> Estimate:
    """Estimate the cost of a checked translation experiment from its first job to its last."""
    corpora = corpus_sizes(config, ["corpora"])
    others = corpus_sizes(config, ["validation", "test_sets"])
    work = Work(config, with_students(zoo, config["students"]), corpora)
    sizeless = [(size.key, ", `rows` could") for size in corpora if size.text is None]
    sizeless += [(size.key, "") for size in others if size.text is None]
    unknown = [f"{key}: nothing tells how large it is{hint}" for key, hint in sizeless]
    unknown += [
        f"{section}.hugging_face: it is not here, so its size and how long it translates are unknown"
        for section in work.teachers
        if not work.networks[section]
    ]
    scored = sorted(asked_for(config) - {*SCORED, "reverse_model"})
    uncounted = [f"the score {name}" for name in scored]
    uncounted += [f"evaluation.{key}" for key in UNTIMED if key in config["evaluation"]]
    unknown += [f"{', '.join(uncounted)}: how long each takes is not known"] * bool(uncounted)
    tests = corpus_sizes(config, ["test_sets"])
    return Estimate(
        disk=disk_of(work, others),
        device=Rates.of(config["hardware"]).device,
        hours={stage: seconds / 3600 for stage, seconds in work.stages().items()},
        chain=(work.chain() + measuring.CHAIN * JOB) / 3600,
        fetched=sum(COMPRESSED * (size.text or 0) for size in [*corpora, *others] if size.fetched),
        other_hours={
            "text": (work.text() + text_models.seconds(work)) / 3600,
            "encoding": text_models.encoding(work) / 3600,
            **starts(measuring.jobs(work)),
            "measuring": measuring.seconds(work, tests) / 3600,
        },
        unknown=tuple(unknown),
        memory=largest_jobs(work, *(TABLE * text for text in trained_text(work))),
        each_core=timing_memory(work),
    )
