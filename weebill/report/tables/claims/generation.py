"""Effects for TEXTGEN's claims, from the measurements of a generation experiment."""

from collections.abc import Callable
from functools import partial

from weebill.experiment.pipelines import model_of
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results
from weebill.report.tables.beside_papers.textgen import NUMBERED, SCORES, variant_of
from weebill.report.tables.claims import Effect, claims_table

# Rows of the paper's tables 3 to 7, by the word in a claim's name: number of each model's table, name of the row.
ROWS = {
    "distilled": ({"bart": 6, "gpt2": 7}, "distilled"),
    "pruned": ({"bart": 3, "gpt2": 4}, "pruned"),
    "quantized": ({"bart": 5}, "quantized"),
    "pipeline": ({"bart": 6, "gpt2": 7}, "quantized"),
}
Of = Callable[[Results, str, str], list[Effect]]


def _pairs(model: str, row: str, results: Results) -> list[tuple[str, str]]:
    """Return our variants made by the steps of a row, each with its initial fine-tuned model."""
    numbers, name = ROWS[row]
    task, steps = NUMBERED[numbers[model]]
    models = dict.fromkeys(map(model_of, lookup.variants_for(results.config, task)))
    found = (variant_of(results, one, steps[name]) for one in models)
    return [(variant, lookup.baseline(results, variant)) for variant in found if variant]


def _measure(model: str, row: str, effect: Of) -> Callable[[Results], list[Effect]]:
    return lambda results: [
        one for pair in _pairs(model, row, results) for one in effect(results, *pair)
    ]


def _against(results: Results, variant: str, base: str) -> tuple[str, str]:
    """Return the variant whose quality a variant is compared with, and the models of the effect.

    It is the baseline or, if the variant has one, the control that was trained from the baseline for the same time.
    """
    fair = lookup.fair_baseline(results, variant)
    return fair, variant if fair == base else f"{variant} against its control {fair}"


def _rouge(results: Results, variant: str, base: str) -> list[Effect]:
    """Return the lowest ratio of the four ROUGE scores to the control's, or to the baseline's without a control."""
    base, of = _against(results, variant, base)
    metrics = SCORES["summarization"].values()
    both = [[lookup.quality(results, one, name) for one in (variant, base)] for name in metrics]
    ratios = [one.score / other.score for one, other in both if one and other and other.score]
    return [Effect(of, min(ratios))] if len(ratios) == len(both) else []


def _perplexity(results: Results, variant: str, base: str) -> list[Effect]:
    base, of = _against(results, variant, base)
    one, other = (lookup.quality(results, name, "perplexity") for name in (variant, base))
    if not one or not other or not lookup.comparable(results, variant, "perplexity"):
        return []
    return [Effect(of, one.score / other.score)]


def _size(results: Results, variant: str, base: str) -> list[Effect]:
    one, other = results.size(variant), results.size(base)
    if not one or not other:
        return []
    return [Effect.exact(variant, 100 * (1 - one.parameter_bytes / other.parameter_bytes))]


def _time(results: Results, variant: str, base: str) -> list[Effect]:
    one, other = (lookup.speed(results, name) for name in (variant, base))
    if not one or not other:
        return []
    ratio = other.seconds_per_example / one.seconds_per_example
    return [Effect.of_rounds(variant, ratio, one.seconds, other.seconds).saved()]


EFFECTS: dict[str, Of] = {
    "rouge": _rouge,
    "perplexity": _perplexity,
    "size": _size,
    "time": _time,
}
MEASURES = {
    f"{model}-{row}-{name}": _measure(model, row, effect)
    for row, (numbers, _) in ROWS.items()
    for model in numbers
    for name, effect in EFFECTS.items()
}
textgen_claims = partial(claims_table, "textgen", MEASURES)
