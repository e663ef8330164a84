"""Lineage of models, for their folders; separate from training, whose libraries are slow to import."""

import platform
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch

from weebill import __version__

if TYPE_CHECKING:
    from weebill.translation.training.trainer import Training, TrainingConfig


def lineage(
    kind: str, config: "TrainingConfig", seed: int, training: "Training", **more: Any
) -> dict[str, Any]:
    """Return the lineage of a model: its kind, settings, seed, validations and software."""
    return {
        "kind": kind,
        "seed": seed,
        "training": asdict(config),
        "course": training.to_dict(),
        "versions": versions(),
        **more,
    }


def versions() -> dict[str, str]:
    """Return the versions of the software that decides a model's bits."""
    return {
        "weebill": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
