"""What the stages of a generation experiment share: its models' variants, and where they lie."""

import re

from weebill.experiment.pipelines import (
    measured_lengths,
    model_of,
    piped_models,
    steps_by,
    task_of,
    variants,
    variants_of,
    vocabulary_pruned,
)

DATA = RESULTS / "data"
SUMMARIES = EVALUATION / "summaries"
QUALITY = EVALUATION / "quality"
LEADS = EVALUATION / "lead"
SIZES = EVALUATION / "size"
SPEEDS = EVALUATION / "speed"
SUMMARIZERS = [
    name for name in config["models"] if task_of(config, name) == "summarization"
]
LANGUAGE_MODELS = [name for name in config["models"] if name not in SUMMARIZERS]


def either(names):
    """A pattern that matches these names alone."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    data="[^/]+",
    model=either(config["models"]),
    origin=f"({either(config['models'])})(/({either(config['steps'])}))*",
    step=either(config["steps"]),
    variant=f"({either(config['models'])})(/({either(config['steps'])}))+",


def data_of(model):
    """The folder of the text that a model is trained and measured on."""
    return DATA / config["models"][model]["data"]


def pretraining_text(model):
    """The folders of the text that a model is made from: its own, or others too."""
    section = config["models"][model]
    return [DATA / name for name in section.get("text", [section["data"]])]


def folder_of(origin):
    """The folder of a variant, or of the model that a pipeline starts from, the user's own perhaps."""
    section = config["models"].get(origin, {})
    if section.get("by") == "hugging_face" and "revision" not in section:
        return present([section["hugging_face"]])
    return [MODELS / origin / "model"]


def lengths_of(model):
    """The longest texts that a model is given and asked for."""
    return {key: config["models"][model][key] for key in ("max_source", "max_target")}


def final_targets():
    """What `snakemake` without a target makes: every variant, measured, in tables and figures."""
    return report_targets()
