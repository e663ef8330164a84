"""Common parts of a generation experiment's stages: its models' variants, and their folders."""

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


wildcard_constraints:
    data="[^/]+",
    model=either(config["models"]),
    origin=f"({either(config['models'])})(/({either(config['steps'])}))*",
    step=either(config["steps"]),
    variant=f"({either(config['models'])})(/({either(config['steps'])}))+",


def data_of(model):
    """Return the folder of a model's text for training and measuring."""
    return DATA / config["models"][model]["data"]


def pretraining_text(model):
    """Return the folders of a model's pre-training text, by default the model's own text."""
    section = config["models"][model]
    return [DATA / name for name in section.get("text", [section["data"]])]


def folder_of(origin):
    """Return the folder of a variant, or of the first model of a pipeline, which may be the user's own."""
    section = config["models"].get(origin, {})
    if section.get("by") == "hugging_face" and "revision" not in section:
        return present([section["hugging_face"]])
    return [MODELS / origin / "model"]


def lengths_of(model):
    """Return the largest lengths of a model's inputs and outputs, and the inputs' prefix if there is one."""
    keys, section = ("max_source", "max_target", "prefix"), config["models"][model]
    return {key: section[key] for key in keys if key in section}


def final_targets():
    """Return the files that `snakemake` without a target makes: tables and figures of all measured variants."""
    return report_targets()
