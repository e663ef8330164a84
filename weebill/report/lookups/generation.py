"""Lookups in the results of a generation experiment, by variant."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from weebill.experiment.pipelines import model_of, steps_by, task_of, variants, variants_of
from weebill.report.results import Results, first

if TYPE_CHECKING:
    from weebill.evaluation.quality.generation_quality import GenerationQuality
    from weebill.evaluation.timing.generation_speed import GenerationSpeed


def variants_for(results: Results, task: str) -> list[str]:
    """Return the variants of the models for a task, in the order of the pipelines."""
    config = results.config
    return [name for name in variants(config) if task_of(config, model_of(name)) == task]


def leads_for(results: Results, metrics: Collection[str]) -> "list[GenerationQuality]":
    """Return the scores of the leads by the given metrics."""
    return [one for one in results.leads if one.metric in metrics]


def quality(results: Results, variant: str, metric: str) -> "GenerationQuality | None":
    """Return a score of a variant or lead, None if it was not measured."""
    return first([*results.qualities, *results.leads], variant=variant, metric=metric)


def speed(results: Results, variant: str) -> "GenerationSpeed | None":
    """Return the times of a variant, None if they were not measured."""
    return first(results.speeds, variant=variant)


def baseline(results: Results, variant: str) -> str:
    """Return the first variant of the same model, which the others are compared with."""
    return variants_of(results.config, model_of(variant))[0]


def comparable(results: Results, variant: str, metric: str) -> bool:
    """Return True if a variant's score can be compared with its baseline's.

    Perplexity is per token, so it can be compared only between models of one vocabulary.
    """
    if metric != "perplexity":
        return True
    one, other = (methods(results, name) for name in (variant, baseline(results, variant)))
    return ("prune-vocabulary" in one) == ("prune-vocabulary" in other)


def methods(results: Results, variant: str) -> list[str]:
    """Return the methods of a variant's steps, in order."""
    return [results.config["steps"][name]["method"] for name in variant.split("/")[1:]]


def movement_variants(config: Mapping[str, Any]) -> list[str]:
    """Return the variants whose last step is movement pruning."""
    pruning = steps_by(config, "movement")
    return [variant for variant in variants(config) if variant.rsplit("/", 1)[1] in pruning]


def prunings(results: Results) -> dict[str, Mapping[str, Any]]:
    """Return the records of movement pruning, by the variant that it made."""
    return dict(zip(movement_variants(results.config), results.prunings, strict=True))
