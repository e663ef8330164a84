"""Effects for TEXTGEN's claims, from the measurements of a generation experiment."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from weebill.experiment.pipelines import model_of
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results
from weebill.report.tables.beside_papers.textgen import NUMBERED, SCORES, variant_of
from weebill.report.tables.claims import Effect, claims_table

if TYPE_CHECKING:
    from weebill.evaluation.quality.generation_quality import GenerationQuality

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


def _qualities(effect: Callable[[Results, str, str, str], list[Effect]]) -> Of:
    """Measure a quality against the baseline, as the paper, and against the variant's control if it has one.

    The control was trained from the baseline for the same time.
    """

    def measure(results: Results, variant: str, base: str) -> list[Effect]:
        fair, against = lookup.fair_baseline(results, variant), {base: variant}
        against.setdefault(fair, f"{variant} against its control {fair}")
        return [found for one, of in against.items() for found in effect(results, variant, one, of)]

    return measure


def _rouge(results: Results, variant: str, base: str, of: str) -> list[Effect]:
    """Return the lowest of the ratios of the four ROUGE scores."""
    metrics = SCORES["summarization"].values()
    both = [[lookup.quality(results, one, name) for one in (variant, base)] for name in metrics]
    ratios = [_ratio(of, one, other) for one, other in both if one and other and other.score]
    return [min(ratios, key=lambda one: one.value)] if len(ratios) == len(both) else []


def _perplexity(results: Results, variant: str, base: str, of: str) -> list[Effect]:
    one, other = (lookup.quality(results, name, "perplexity") for name in (variant, base))
    if not one or not other or not lookup.comparable(results, variant, "perplexity"):
        return []
    return [_ratio(of, one, other)]


def _ratio(of: str, one: "GenerationQuality", other: "GenerationQuality") -> Effect:
    """Return the ratio of two scores; its margin of error has both margins."""
    bounds = (None, None)
    if None not in (one.low, one.high, other.low, other.high) and other.low > 0:
        bounds = (one.low / other.high, one.high / other.low)
    return Effect(of, one.score / other.score, *bounds)


def _size(results: Results, variant: str, base: str) -> list[Effect]:
    one, other = results.size(variant), results.size(base)
    if not one or not other:
        return []
    return [Effect.exact(variant, 100 * (1 - one.parameter_bytes / other.parameter_bytes))]


def _time(results: Results, variant: str, base: str) -> list[Effect]:
    """Return the saved time in float32, in which the paper computes quantized models too (§4.3)."""
    if lookup.methods(results, variant)[-1] == "post-training":
        variant = variant.rpartition("/")[0]
    one, other = (lookup.speed(results, name) for name in (variant, base))
    if not one or not other or variant == base:
        return []
    ratio = other.seconds_per_example / one.seconds_per_example
    return [Effect.of_rounds(variant, ratio, one.seconds, other.seconds).saved()]


EFFECTS: dict[str, Of] = {
    "rouge": _qualities(_rouge),
    "perplexity": _qualities(_perplexity),
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
