"""What made a model, as its folder tells it.  Kept apart from training, whose libraries are slow to import."""

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
    """What made a model: its kind, settings, seed, course of validation and the software."""
    return {
        "kind": kind,
        "seed": seed,
        "training": asdict(config),
        "course": training.to_dict(),
        "versions": versions(),
        **more,
    }


def versions() -> dict[str, str]:
    """The software that decides a model's bits."""
    return {
        "weebill": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
