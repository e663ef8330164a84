"""Pipelines of a generation experiment: the variants MODEL/STEP/STEP… that they make, and their models."""

from collections.abc import Mapping
from typing import Any


def variants(config: Mapping[str, Any]) -> list[str]:
    """Return MODEL/STEP/STEP… of every model that the pipelines make, each once, in the pipelines' order."""
    found = {}
    for pipeline in config["pipelines"]:
        path = pipeline["model"]
        for step in pipeline["steps"]:
            path = f"{path}/{step}"
            found[path] = None
    return list(found)


def model_of(variant: str) -> str:
    """Return the model that a variant was made from."""
    return variant.split("/")[0]


def variants_of(config: Mapping[str, Any], model: str) -> list[str]:
    """Return the variants of one model."""
    return [variant for variant in variants(config) if model_of(variant) == model]


def control_of(config: Mapping[str, Any], variant: str) -> str | None:
    """Return the control of a variant, which shows the effect of its last training's length alone; None if none is.

    A control was made from the same model by a `fine-tune` with the same training and loss.
    A conversion to int8 trains nothing: its control is that of the variant that it converts.
    """
    origin, _, name = variant.rpartition("/")
    step = config["steps"].get(name) if origin else None
    if step is None or step["method"] == "fine-tune":
        return None
    if step["method"] == "post-training":
        return control_of(config, origin)
    for other in variants_of(config, model_of(variant)) if "training" in step else ():
        before, _, control = other.rpartition("/")
        tuned = before == origin and _trains_all(config["steps"][control])
        if tuned and _course(config["steps"][control]) == _course(step):
            return other
    return None


def _trains_all(step: Mapping[str, Any]) -> bool:
    return step["method"] == "fine-tune" and step.get("low_rank") is None


def _course(step: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the training and the loss of a step; movement pruning always keeps the last weights."""
    kept = {"keep": "last"} if step["method"] == "movement" else {}
    return {**step["training"], **kept}, step.get("loss")


def piped_models(config: Mapping[str, Any]) -> list[str]:
    """Return the models that pipelines start from, each once."""
    return list(dict.fromkeys(pipeline["model"] for pipeline in config["pipelines"]))


def task_of(config: Mapping[str, Any], model: str) -> str:
    """Return the task of a model, which its data names."""
    return config["data"][config["models"][model]["data"]]["task"]


def steps_by(config: Mapping[str, Any], method: str) -> list[str]:
    """Return the names of the steps that use a method."""
    return [name for name, step in config["steps"].items() if step["method"] == method]


def measured_lengths(config: Mapping[str, Any], model: str) -> dict[str, int]:
    """Return the longest texts, in tokens, that the evaluation gives a model or asks it to write, by key path."""
    evaluation = config["evaluation"]
    speed = evaluation["speed"]
    if task_of(config, model) == "summarization":
        return {
            "evaluation.search.max_tokens": evaluation["search"]["max_tokens"],
            "evaluation.speed.given": speed["given"],
            "evaluation.speed.new_tokens": speed["new_tokens"],
        }
    return {
        "evaluation.perplexity.window": evaluation["perplexity"]["window"],
        "evaluation.speed.new_tokens": speed["given"] + speed["new_tokens"],
    }


def vocabulary_pruned(config: Mapping[str, Any], model: str) -> bool:
    """Return True if a pipeline of the model prunes its vocabulary."""
    pruning = steps_by(config, "prune-vocabulary")
    pipelines = [pipeline for pipeline in config["pipelines"] if pipeline["model"] == model]
    return any(step in pruning for pipeline in pipelines for step in pipeline["steps"])
