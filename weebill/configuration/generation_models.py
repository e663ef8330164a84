"""Model folders of generation experiments that a pipeline cannot serve."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weebill.configuration.generation import Config, piped_models, steps_by
from weebill.errors import InputError


def vocabulary_pruned(config: Mapping[str, Any], model: str) -> bool:
    """Return True if a pipeline of the model prunes its vocabulary."""
    pruning = steps_by(config, "prune-vocabulary")
    pipelines = [pipeline for pipeline in config["pipelines"] if pipeline["model"] == model]
    return any(step in pruning for pipeline in pipelines for step in pipeline["steps"])


def unfit_models(config: Config) -> list[str]:
    """One line for each local model folder whose vocabulary a pipeline prunes and that cannot be pruned."""
    found = []
    for name in piped_models(config):
        model = config["models"][name]
        if "hugging_face" not in model or "revision" in model:
            continue
        folder = Path(model["hugging_face"])
        if vocabulary_pruned(config, name):
            from weebill.generation.prunable_vocabulary import check_folder  # slow to import

            try:
                check_folder(folder)
            except InputError as error:
                found.append(f"models.{name}.hugging_face: {folder}: {error}")
    return found
