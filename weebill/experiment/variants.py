"""Model variants STUDENT/RECIPE/PRECISION, which patterns choose."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from weebill.experiment.precisions import quantized
from weebill.experiment.student_names import repeats

UNPRUNED = "unpruned"

Variant = tuple[str, str, str]


def precisions(config: dict[str, Any]) -> list[str]:
    """Return the precisions that `quantization` configures, float32 first."""
    return ["float32", *quantized(config["quantization"])]


def recipes(config: dict[str, Any]) -> list[str]:
    """Return the recipes that patterns may name, `unpruned` first."""
    return [UNPRUNED, *config["pruning"]]


def every_variant(config: dict[str, Any]) -> Iterator[Variant]:
    """Yield all variants that the configuration's parts can make, in their order."""
    return product(config["students"], recipes(config), precisions(config))


def matching(pattern: str, config: dict[str, Any]) -> Iterator[Variant]:
    """Yield the configured variants that one pattern chooses, in the order of the configuration."""
    parts = pattern.split("/")
    for variant in every_variant(config):
        if all(fnmatchcase(name, part) for name, part in zip(variant, parts, strict=True)):
            yield variant


def expand_variants(config: dict[str, Any]) -> list[Variant]:
    """Return every (student, recipe, precision) that a checked configuration asks for, once each.

    The unpruned float32 model of every student is always among them: all others are compared with it.
    """
    asked = {(student, UNPRUNED, "float32") for student in config["students"]}
    for pattern in config["variants"]:
        asked.update(matching(pattern, config))
    return [variant for variant in every_variant(config) if variant in asked]


def measured_variants(config: dict[str, Any]) -> list[Variant]:
    """Return the variants with the experiment's seed, which get all measurements; others are compared with them."""
    return [variant for variant in expand_variants(config) if not repeats(variant[0])]


def timed_on_gpus(config: dict[str, Any]) -> list[Variant]:
    """Return the measured variants that patterns choose to be timed on a GPU."""
    patterns = config["evaluation"]["speed"]["gpu_variants"]
    chosen = {variant for pattern in patterns for variant in matching(pattern, config)}
    return [variant for variant in measured_variants(config) if variant in chosen]


def expand_exports(config: dict[str, Any]) -> list[tuple[str, Variant]]:
    """Return every (format, variant) that a checked configuration's `exports` ask for, once each."""
    return [
        (form, variant)
        for form, patterns in config["exports"].items()
        for variant in dict.fromkeys(v for pattern in patterns for v in matching(pattern, config))
    ]
