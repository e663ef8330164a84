"""Small numbers, and short trainings with the schedule, types of numbers and parts of long ones."""

from collections.abc import Mapping
from typing import Any

UPDATES = 16  # of teachers and students
RESET_TO = 4  # updates before pruning begins
PART = 3  # updates of a part of a training, such as one iteration of pruning
VALIDATE_EVERY = 8
SENTENCES = 20
BATCH_TOKENS = 384
FEW = 2
# Least learning rate, and least share of the newest weights in their average: with less, few updates hardly change a
# model, and all its translations may be empty.
RATE, SMOOTHING = 0.003, 0.1

Settings = dict[str, Any]


def at_most(section: Mapping[str, Any], **limits: int) -> Settings:
    """Return a section whose numbers are no larger than the limits of their keys; it may lack some of the keys."""
    return dict(section) | {
        key: min(section[key], most) for key, most in limits.items() if key in section
    }


def short_training(training: Mapping[str, Any], updates: int = UPDATES) -> Settings:
    """Return the settings of a short training of a translator."""
    short = {
        **at_most(training, batch_tokens=BATCH_TOKENS, accumulate=FEW),
        "updates": updates,
        "warmup": updates // 4,
        "validate_every": min(VALIDATE_EVERY, updates),
        "checkpoint_every": min(VALIDATE_EVERY, updates),
        "learning_rate": max(training["learning_rate"], RATE),
        "smoothing": training["smoothing"] and max(training["smoothing"], SMOOTHING),
    }
    *earlier, last = training["stages"] or [None]
    if last is not None:
        short["stages"] = [*({**stage, "updates": PART} for stage in earlier), last]
    return short


def short_recipe(recipe: Mapping[str, Any]) -> Settings:
    """Return a pruning recipe with few updates and rounds; what it removes in one round stays."""
    short = dict(recipe)
    for key, value in recipe.items():
        if key == "reset_to" and value:
            short[key] = RESET_TO
        elif key.endswith("_updates"):
            short[key] = PART
        elif key == "iterations":
            short[key] = min(value, FEW)
    return short


def short_quantization(settings: Mapping[str, Any]) -> Settings:
    """Return the section `quantization` with short fine-tunings."""
    short = at_most(settings, calibration_sentences=SENTENCES)
    for grid, its in settings.items():
        if isinstance(its, Mapping) and "finetune" in its:
            few = {"updates": 2 * PART, "warmup": FEW}
            few |= {"validate_every": PART} if "validate_every" in its["finetune"] else {}
            short[grid] = {**its, "finetune": its["finetune"] | few}
    return short


def short_generation_training(training: Mapping[str, Any]) -> Settings:
    """Return the settings of a short training of a generator, by updates instead of epochs."""
    others = {key: value for key, value in training.items() if key != "epochs"}
    return {
        **at_most(others, batch_size=4, accumulate=FEW),
        "updates": 2 * FEW,
        "warmup": FEW,
        "validate_every": FEW,
    }


def short_regression(training: Mapping[str, Any]) -> Settings:
    """Return the settings of a short training of a metric by unbabel-comet, with a small estimator."""
    parameters = dict(training["hyperparameters"])
    parameters |= {"batch_size": 4}
    if "hidden_sizes" in parameters:
        parameters["hidden_sizes"] = [32, 16, 8][: len(parameters["hidden_sizes"])]
    return {
        **at_most(training, epochs=FEW, accumulate=FEW),
        "checkpoint_every": FEW,
        "hyperparameters": parameters,
    }


def short_pretraining(encoder: Mapping[str, Any]) -> Settings:
    """Return a small encoder with as many layers and heads, and its short pre-training."""
    return {
        **encoder,
        "width": 4 * encoder["heads"],
        "intermediate": 32,
        "updates": 4 * PART,
        "batch_pieces": 1024,
        "warmup": PART,
        "checkpoint_every": 2 * PART,
    }
