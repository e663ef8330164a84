"""Effects for WNGT20's and WMT21's claims, from the measurements of a translation experiment."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import grid_of
from weebill.pruning.methods import pruning_method
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results, first
from weebill.report.tables.claims import Effect, claims_table

if TYPE_CHECKING:
    from weebill.evaluation.timing.gpu_speed import GpuSpeed

MOST_HEADS = (0.7, 0.8)  # shares of heads that count as the paper's 75 %
Chosen = Callable[[Results], list[Variant]]


def _bleu(results: Results, variant: Variant, base: Variant) -> Effect | None:
    """Return the paired difference of two variants, over several seeds if these were trained."""
    pair = {"variant": str(variant), "baseline": str(base)}
    rows = (results.seeds, results.comparisons, results.steps)
    one = next((found for row in rows if (found := first(row, **pair))), None)
    if one is None:
        return None
    return Effect(str(variant), one.difference, one.difference_low, one.difference_high)


def _speed(results: Results, variant: Variant, base: Variant) -> Effect | None:
    """Return a variant's speed-up over `base` on one core, by the runtime, over interleaved rounds."""
    one, other = (lookup.runtime_speed(results, each) for each in (variant, base))
    if not one or not other:
        return None
    ratio = one.words_per_second / other.words_per_second
    return Effect.of_rounds(str(variant), ratio, one.seconds, other.seconds)


def _found(effects: Iterator[Effect | None] | list[Effect | None]) -> list[Effect]:
    return [one for one in effects if one is not None]


def _against_unpruned(effect: Callable, chosen: Chosen) -> Callable[[Results], list[Effect]]:
    """Measure each chosen variant against its student's unpruned float32 model."""
    return lambda results: _found([effect(results, v, v.baseline) for v in chosen(results)])


def _heads_removed(results: Results, variant: Variant) -> float | None:
    left, full = (lookup.encoder_heads(results, one) for one in (variant, variant.baseline))
    return None if left is None or not full else 1 - left / full


def _by_method(results: Results, method: str) -> list[Variant]:
    recipes = results.config["pruning"]
    return [
        v for v in lookup.students(results) if recipes.get(v.recipe, {}).get("method") == method
    ]


def _without_heads(results: Results) -> list[Variant]:
    """Return float32 variants without three quarters of the heads, which late resetting removed."""
    least, most = MOST_HEADS
    return [
        v
        for v in _by_method(results, "late-reset")
        if v.precision == "float32" and least <= (_heads_removed(results, v) or 0) <= most
    ]


def _lasso(results: Results, grid: str, kind: str = "") -> list[Variant]:
    """Return variants that group lasso pruned, in a grid.  kind: rowcol or head, both if empty."""
    recipes = results.config["pruning"]
    return [
        v
        for v in _by_method(results, "group-lasso")
        if grid_of(v.precision) == grid
        and recipes[v.recipe].get("groups", "rowcol").startswith(kind)
    ]


def _unpruned(results: Results, *precisions: str) -> list[Variant]:
    return [
        v
        for v in lookup.students(results)
        if v.recipe == v.baseline.recipe and v.precision in precisions
    ]


def _lasso_heads(kind: str, results: Results) -> list[Effect]:
    shares = [(v, _heads_removed(results, v)) for v in _lasso(results, "float32", kind)]
    return [Effect.exact(str(v), 100 * one) for v, one in shares if one is not None]


def _lasso_scratch(results: Results) -> list[Effect]:
    """Compare models that group lasso made with the same shapes trained from scratch."""
    recipes, effects = results.config["pruning"], []
    for variant in lookup.students(results):
        recipe = recipes.get(variant.recipe, {})
        shape = pruning_method(recipe).shape_from if recipe else ""
        if shape and recipes[shape]["method"] == "group-lasso":
            lasso = Variant(variant.student, shape, variant.precision)
            effects.append(_bleu(results, lasso, variant))
    return _found(effects)


def _beside_untuned(chosen: Chosen, how: str = "finetuned") -> Callable[[Results], list[Effect]]:
    """Measure the BLEU that a precision GRID-HOW gains over GRID: the difference of their losses."""

    def measure(results: Results) -> list[Effect]:
        effects = []
        for one in chosen(results):
            untuned = Variant(one.student, one.recipe, one.precision.removesuffix(f"-{how}"))
            pair = [_bleu(results, v, one.baseline) for v in (one, untuned)]
            if one != untuned and None not in pair:
                effects.append(pair[0].less(pair[1]))
        return effects

    return measure


def _log4_size(results: Results) -> list[Effect]:
    effects = []
    for variant in _unpruned(results, "log4"):
        whole, size = (results.size(one) for one in (variant.baseline, variant))
        if whole and size:
            ratio = whole.parameter_bytes / size.parameter_bytes
            effects.append(Effect.exact(str(variant), ratio))
    return effects


def _by_size(results: Results, precision: str) -> list[Variant]:
    """Return the unpruned variants of all students in a precision, the largest student first."""
    found = [v for v in _unpruned(results, precision) if results.size(v.baseline)]
    return sorted(found, key=lambda v: results.size(v.baseline).parameters, reverse=True)


def _neighbours(results: Results, precision: str) -> Iterator[tuple[Variant, Variant]]:
    """Yield each student and the next smaller one; only the first of several with one size, as for other texts."""
    found: dict[int, Variant] = {}
    for variant in _by_size(results, precision):
        found.setdefault(results.size(variant.baseline).parameters, variant)
    return pairwise(found.values())


def _smaller_bleu(results: Results, precision: str, base: Variant | None = None) -> list[Effect]:
    """Return the difference to `base` of each student, minus that of the next larger one.

    base: by default, the student's own unpruned float32 variant.
    """
    effects = []
    for larger, smaller in _neighbours(results, precision):
        both = [_bleu(results, v, base or v.baseline) for v in (smaller, larger)]
        if None not in both:
            effects.append(both[0].less(both[1]))
    return effects


def _larger_speed(results: Results) -> list[Effect]:
    """Return the ratio of each student's speed-up by 8 bits to that of the next smaller student."""
    effects = []
    for larger, smaller in _neighbours(results, "int8"):
        both = [_speed(results, v, v.baseline) for v in (larger, smaller)]
        if None not in both:
            one, other = both
            ends = (one.low / other.high, one.high / other.low)
            effects.append(Effect(f"{larger}, {smaller}", one.value / other.value, *ends))
    return effects


def _smaller_speed(results: Results) -> list[Effect]:
    pairs = _neighbours(results, "float32")
    return _found([_speed(results, smaller, larger) for larger, smaller in pairs])


def _against_teacher(results: Results) -> list[Effect]:
    teacher = lookup.teacher(results)
    return _smaller_bleu(results, "float32", teacher) if teacher else []


def _gpu_speed(numbers: str, other: str, results: Results) -> list[Effect]:
    """Return the speed-up of a model by one kind of numbers over another, by batch size.

    int8 is a separate variant, which is compared with the float32 variant of the same student and recipe.
    """

    def setting(one: "GpuSpeed") -> tuple[object, ...]:
        variant = Variant.parse(one.variant)
        stored = "float32" if one.numbers == "int8" else variant.precision
        return variant.student, variant.recipe, stored, one.batch_size, one.shortlist

    ours, base = ([s for s in results.gpu_speeds if s.numbers == n] for n in (numbers, other))
    return _gpu_ratios(ours, base, setting)


def _gpu_shortlist(results: Results) -> list[Effect]:
    """Return the speed-up of a student by a shortlist, by batch size."""

    def setting(one: "GpuSpeed") -> tuple[object, ...]:
        return one.variant, one.numbers, one.batch_size

    ours, base = ([s for s in results.gpu_speeds if s.shortlist == on] for on in (True, False))
    return _gpu_ratios(ours, base, setting)


def _gpu_ratios(
    ours: "list[GpuSpeed]",
    base: "list[GpuSpeed]",
    setting: "Callable[[GpuSpeed], tuple[object, ...]]",
) -> list[Effect]:
    """Return the ratios of all pairs of the same setting."""
    effects = []
    for one, other in product(ours, base):
        if setting(one) == setting(other):
            name = f"{one.variant}, batches of {one.batch_size}" + ", shortlist" * one.shortlist
            ratio = one.words_per_second / other.words_per_second
            effects.append(Effect.of_rounds(name, ratio, one.seconds, other.seconds))
    return effects


MEASURES = {
    "heads-bleu": _against_unpruned(_bleu, _without_heads),
    "heads-speed": _against_unpruned(_speed, _without_heads),
    "int8-speed": _against_unpruned(_speed, partial(_by_size, precision="int8")),
    "larger-int8-speed": _larger_speed,
    "smaller-int8-bleu": partial(_smaller_bleu, precision="int8"),
    "int8-finetuning": _beside_untuned(partial(_by_size, precision="int8-finetuned")),
    "log4-size": _log4_size,
    "log4-bleu": _against_unpruned(_bleu, partial(_by_size, precision="log4-finetuned")),
    "log4-finetuning": _beside_untuned(partial(_by_size, precision="log4-finetuned")),
    "log4-biases": _beside_untuned(partial(_by_size, precision="log4-biases"), "biases"),
    "log4-speed": _against_unpruned(_speed, partial(_by_size, precision="log4")),
    "smaller-speed": _smaller_speed,
    "smaller-bleu": _against_teacher,
    "float16-speed": partial(_gpu_speed, "float16", "float32"),
    "gpu-int8-speed": partial(_gpu_speed, "int8", "float16"),
    "gpu-shortlist-speed": _gpu_shortlist,
    "lasso-speed": _against_unpruned(_speed, partial(_lasso, grid="float32")),
    "lasso-bleu": _against_unpruned(_bleu, partial(_lasso, grid="float32")),
    "lasso-int8-speed": _against_unpruned(_speed, partial(_lasso, grid="int8")),
    "lasso-int8-bleu": _against_unpruned(_bleu, partial(_lasso, grid="int8")),
    "head-lasso-heads": partial(_lasso_heads, "head"),
    "rowcol-lasso-heads": partial(_lasso_heads, "rowcol"),
    "lasso-scratch": _lasso_scratch,
    "lasso-int8-finetuning": _beside_untuned(partial(_lasso, grid="int8")),
}
wngt20_claims = partial(claims_table, "wngt20", MEASURES)
wmt21_claims = partial(claims_table, "wmt21", MEASURES)
