"""Lineage in a model's folder; this is separate from training, whose libraries are slow to import."""

import platform
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import torch

from weebill import __version__


def lineage(
    kind: str, settings: Any, seed: int, course: Any, packages: Iterable[str] = (), **more: Any
) -> dict[str, Any]:
    """Return a trained model's settings, seed, course of validation, software versions, and more plain values."""
    return {
        "kind": kind,
        "seed": seed,
        "training": asdict(settings),
        "course": course.to_dict(),
        "versions": versions(packages),
        **more,
    }


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of the software that a model's bits depend on, and of further packages."""
    return {
        "weebill": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }
