"""Common parts of a metric experiment's stages: the metrics that it makes, and their folders."""

from weebill.configuration.resources import pretraining_memory, vocabulary_memory
from weebill.experiment.metrics import (
    damaged_metrics,
    damaged_name,
    damaged_sets,
    distilled_metrics,
    our_metrics,
    pruned_metrics,
    shown_metrics,
)
from weebill.pruning.methods import METHODS

ENCODERS = RESULTS / "encoders"
TOKENIZER = RESULTS / "tokenizer"
JUDGED = RESULTS / "judged"
MEMBERS = MODELS / "reference"
DISTILLATION = RESULTS / "distillation"
SCORES = EVALUATION / "scores"
DAMAGED = JUDGED / "damaged"

REFERENCE = config["reference"]
PRUNED = pruned_metrics(config)  # name: methods in the order of use
DEVELOPMENT = {"development": config["pruning"]["development"]} if PRUNED else {}
DISTILLED = distilled_metrics(config)  # name: encoder
OWN = {*our_metrics(config), *PRUNED}  # the metrics that are models of the experiment
MEASURED_SETS = {**config["test_sets"], **DEVELOPMENT}
DAMAGED_SETS = damaged_sets(config, DAMAGED)
JUDGED_SETS = {**MEASURED_SETS, **DAMAGED_SETS}


wildcard_constraints:
    encoder="[^/]+",
    member="[0-9]+",
    metric="[^/]+",
    pairs="[^/]+",
    translation="[^/]+",
    step="[0-9]+",
    shard="[0-9]+",
    judged="[^/]+",


def members():
    """Return the folders of the reference models: an ensemble trained here, or the checkpoint."""
    count = 1 if "checkpoint" in REFERENCE else REFERENCE["members"]
    return expand(MEMBERS / "member-{member}", member=range(count))


def model_of(metric):
    """Return the folders of a metric's models: several for an ensemble, none for a metric without a model."""
    if metric == "reference":
        return members()[:1]
    if metric == "ensemble":
        return members()
    return [MODELS / metric] if metric in OWN else []


def encoder_of(name):
    """Return the folder of an encoder: the user's own, or one that a rule makes or fetches."""
    section = config["encoders"][name]
    if section["by"] == "hugging_face" and "revision" not in section:
        return present([section["hugging_face"]])
    return [ENCODERS / name]


def pieces_of(name):
    """Return the folder with the pieces of an encoder made here: its teacher, or the tokenizer of all others."""
    teacher = config["encoders"][name].get("teacher")
    return encoder_of(teacher)[0] if teacher else TOKENIZER


def without_by(section):
    """Return a section's settings without the key `by`, which selects the kind of section."""
    return {key: value for key, value in section.items() if key != "by"}


def judged_tables(entries):
    """Return the tables of judgements in some entries; tables of damaged translations are made here."""
    tables = [entry["table"] for entry in entries]
    made = {entry["table"] for entry in DAMAGED_SETS.values()}
    return [
        *made.intersection(tables),
        *present([one for one in tables if one not in made]),
    ]


def scores_of_all(judged, metrics):
    """Return the files with some metrics' scores of a judged set."""
    return expand(SCORES / "{judged}/{metric}.json", judged=judged, metric=metrics)


def scores_of(entry, metric):
    """Return the file with a metric's scores that an entry of a judged set names, if any."""
    return present(
        [path for name, path in entry.get("scores", {}).items() if name == metric]
    )


def timed_metrics():
    """Return the names of the metrics that are timed, the reference first."""
    return [name for name in our_metrics(config) if name != "ensemble"]


def timed_files():
    """Return the files of text that the timed metrics score."""
    speed = config["evaluation"].get("speed")
    if speed is None:
        return []
    references = [speed["references"]] if "references" in speed else []
    return present([speed["sources"], *references, *speed["systems"]])


FETCHED_ENCODERS = fetched(config["encoders"])


def final_targets():
    """Return the files that `snakemake` without a target makes: tables and figures of all measured metrics."""
    return report_targets()
