"""What the stages of a metric experiment share: the metrics that it makes, and where they lie."""

from weebill.configuration.resources import pretraining_memory, vocabulary_memory
from weebill.experiment.metrics import our_metrics, pruned_metrics, shown_metrics
from weebill.pruning.methods import METHODS

ENCODERS = RESULTS / "encoders"
TOKENIZER = RESULTS / "tokenizer"
JUDGED = RESULTS / "judged"
MEMBERS = MODELS / "reference"
DISTILLATION = RESULTS / "distillation"
SCORES = EVALUATION / "scores"

REFERENCE = config["reference"]
PRUNED = pruned_metrics(config)  # name: methods, in turn
DEVELOPMENT = {"development": config["pruning"]["development"]} if PRUNED else {}
OWN = {*our_metrics(config), *PRUNED}  # the metrics that are models of the experiment
JUDGED_SETS = {**config["test_sets"], **DEVELOPMENT}


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
    """The reference models: an ensemble trained here, or the checkpoint."""
    count = 1 if "checkpoint" in REFERENCE else REFERENCE["members"]
    return expand(MEMBERS / "member-{member}", member=range(count))


def model_of(metric):
    """The folders of a metric's models, several of an ensemble; none of one without a model."""
    if metric == "reference":
        return members()[:1]
    if metric == "ensemble":
        return members()
    return [MODELS / metric] if metric in OWN else []


def encoder_of(name):
    """The folder of an encoder: the user's own, or one that is made or fetched first."""
    section = config["encoders"][name]
    if section["by"] == "hugging_face" and "revision" not in section:
        return present([section["hugging_face"]])
    return [ENCODERS / name]


def without_by(section):
    """The settings of a section that `by` chose among others."""
    return {key: value for key, value in section.items() if key != "by"}


def judged_tables(entries):
    """The tables of judgements that some entries name."""
    return present([entry["table"] for entry in entries])


def scores_of(entry, metric):
    """The file of a metric's scores that an entry of a judged set names, if any."""
    return present(
        [path for name, path in entry.get("scores", {}).items() if name == metric]
    )


def timed_metrics():
    """The metrics that are timed, the reference first."""
    return [name for name in our_metrics(config) if name != "ensemble"]


def timed_files():
    """What they score for that."""
    speed = config["evaluation"].get("speed")
    if speed is None:
        return []
    references = [speed["references"]] if "references" in speed else []
    return present([speed["sources"], *references, *speed["systems"]])


FETCHED_ENCODERS = {
    name: (section["hugging_face"], section["revision"])
    for name, section in config["encoders"].items()
    if "revision" in section
}


def final_targets():
    """What `snakemake` without a target makes: every metric, measured, in tables and figures."""
    return report_targets()
