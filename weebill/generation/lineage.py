"""Lineage of models, for their config.json."""

from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from weebill.generation.settings import TrainingSettings
from weebill.translation.model.lineage import versions

if TYPE_CHECKING:
    from weebill.generation.training import Course


def lineage(
    kind: str, seed: int, settings: TrainingSettings, course: "Course", **more: Any
) -> Mapping[str, Any]:
    """Return the lineage of a trained model: kind, seed, settings, validations and software.

    more: further plain values, such as the step's own settings and the parent's hash.
    """
    return {
        "kind": kind,
        "seed": seed,
        "training": asdict(settings),
        "course": course.to_dict(),
        "versions": software(),
        **more,
    }


def software() -> dict[str, str]:
    """Return the versions of the software that decides a model's bits."""
    return {**versions(), "transformers": version("transformers")}
