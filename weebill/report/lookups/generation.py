"""Lookups in the results of a generation experiment, by variant."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from weebill.experiment import pipelines
from weebill.report.results import Results, first
from weebill.report.table import fixed, three_digits

if TYPE_CHECKING:
    from weebill.evaluation.quality.generation_quality import GenerationQuality
    from weebill.evaluation.timing.generation_speed import GenerationSpeed


# Task → metrics; the first one that can compare the variants is shown.
METRICS = {"summarization": ["ROUGE-L"], "language-modelling": ["perplexity", "bits per byte"]}


def has_task(task: str, config: Mapping[str, Any]) -> bool:
    """Return True if a pipeline has a model for the task."""
    return any(pipelines.task_of(config, name) == task for name in pipelines.piped_models(config))


def variants_for(config: Mapping[str, Any], task: str) -> list[str]:
    """Return the variants of the models for a task, in the order of the pipelines."""
    found = pipelines.variants(config)
    return [v for v in found if pipelines.task_of(config, pipelines.model_of(v)) == task]


def leads_for(results: Results, metrics: Collection[str]) -> "list[GenerationQuality]":
    """Return the scores of leads (beginnings of articles) by the given metrics."""
    return [one for one in results.leads if one.metric in metrics]


def quality(results: Results, variant: str, metric: str) -> "GenerationQuality | None":
    """Return a score of a variant or lead, None if it was not measured."""
    return first([*results.qualities, *results.leads], variant=variant, metric=metric)


def speed(results: Results, variant: str) -> "GenerationSpeed | None":
    """Return the times of a variant on a processor, None if they were not measured."""
    return first(results.speeds, variant=variant, device="cpu")


def seconds(speed: "GenerationSpeed | None") -> str:
    """Format the seconds for an example; "" if they were not measured."""
    return three_digits(speed.seconds_per_example) if speed else ""


def gpu_speed(results: Results, variant: str) -> "GenerationSpeed | None":
    """Return the times of a variant on a GPU, None if they were not measured."""
    return first(results.speeds, variant=variant, device="cuda")


def baseline(results: Results, variant: str) -> str:
    """Return the first variant of the same model; the others are compared with it."""
    return pipelines.variants_of(results.config, pipelines.model_of(variant))[0]


def controls(config: Mapping[str, Any], task: str) -> dict[str, str]:
    """Return the controls of the variants for a task, by variant; some variants have none."""
    found = {v: pipelines.control_of(config, v) for v in variants_for(config, task)}
    return {variant: control for variant, control in found.items() if control}


def has_controls(task: str, config: Mapping[str, Any]) -> bool:
    """Return True if a variant of a model for the task has a control."""
    return bool(controls(config, task))


def fair_baseline(results: Results, variant: str) -> str:
    """Return the variant whose quality a variant's should be compared with.

    It is the model's first variant.  If a single training made the variant from this one and has a control, it is the
    control, which was trained for the same time.
    """
    base, control = baseline(results, variant), pipelines.control_of(results.config, variant)
    return control if control and control.rpartition("/")[0] == base else base


def comparable(results: Results, variant: str, metric: str) -> bool:
    """Return True if a score can be compared with the baseline's; perplexity, per token, needs one vocabulary."""
    if metric != "perplexity":
        return True
    one, other = (methods(results, name) for name in (variant, baseline(results, variant)))
    return ("prune-vocabulary" in one) == ("prune-vocabulary" in other)


def metric_of(results: Results, task: str, variants: Iterable[str]) -> str:
    """Return the metric of a task that is shown for some variants: the first one that can compare all of them."""
    wanted = list(variants)
    return next(m for m in METRICS[task] if all(comparable(results, v, m) for v in wanted))


def texts(one: "GenerationQuality | None", metric: str) -> list[str]:
    """Format a score and the bounds of its interval; "" if it was not measured."""
    numbers = (one.score, one.low, one.high) if one else (None,) * 3
    return [fixed(value, 2 if metric == "perplexity" else 3) for value in numbers]


def methods(results: Results, variant: str) -> list[str]:
    """Return the methods of a variant's steps, in order."""
    return [results.config["steps"][name]["method"] for name in variant.split("/")[1:]]


def bits(results: Results, variant: str) -> set[int]:
    """Return the bits that a variant's steps round weights to."""
    steps = (results.config["steps"][name] for name in variant.split("/")[1:])
    return {step["bits"] for step in steps if "bits" in step}


def movement_variants(config: Mapping[str, Any]) -> list[str]:
    """Return the variants whose last step is movement pruning."""
    pruning = pipelines.steps_by(config, "movement")
    return [v for v in pipelines.variants(config) if v.rsplit("/", 1)[1] in pruning]


def prunings(results: Results) -> dict[str, Mapping[str, Any]]:
    """Return the records of movement pruning, by the resulting variant."""
    return dict(zip(movement_variants(results.config), results.prunings, strict=True))
