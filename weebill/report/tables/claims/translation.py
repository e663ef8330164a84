"""Effects for WNGT20's and WMT21's claims, from the measurements of a translation experiment."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from weebill.evaluation.measurement import Variant
from weebill.pruning.methods import pruning_method
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results, first
from weebill.report.table import signed, signed_text
from weebill.report.tables.claims import Effect, claims_table, gpu

MOST_HEADS = (0.7, 0.8)  # shares of heads that count as the paper's 75 %
SMALL_VOCABULARY = 16_000  # between the papers' 8,000 and 32,000 pieces
Chosen = Callable[[Results], list[Variant]]


def _bleu(results: Results, variant: Variant, base: Variant) -> Effect | None:
    """Return the paired difference of two variants, over several seeds if these were trained."""
    pair = {"variant": str(variant), "baseline": str(base)}
    rows = (results.seeds, results.comparisons, results.steps)
    one = next((found for row in rows if (found := first(row, **pair))), None)
    if one is None:
        return None
    of = str(variant)
    if seeds := getattr(one, "seeds", ()):
        of += f", mean of {len(seeds)} seeds"
    return Effect(of, one.difference, one.difference_low, one.difference_high)


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


def _lasso(results: Results, precision: str, kind: str = "") -> list[Variant]:
    """Return variants that group lasso pruned, in a precision.  kind: rowcol or head, both if empty."""
    recipes = results.config["pruning"]
    return [
        v
        for v in _by_method(results, "group-lasso")
        if v.precision == precision and recipes[v.recipe].get("groups", "rowcol").startswith(kind)
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
        if shape and recipes[shape]["method"] == "group-lasso" and variant.precision == "float32":
            lasso = Variant(variant.student, shape, variant.precision)
            effects.append(_bleu(results, lasso, variant))
    return _found(effects)


def _beside_untuned(chosen: Chosen, how: str = "finetuned") -> Callable[[Results], list[Effect]]:
    """Measure the BLEU that a precision GRID-HOW gains over GRID."""

    def measure(results: Results) -> list[Effect]:
        effects = []
        for one in chosen(results):
            untuned = Variant(one.student, one.recipe, one.precision.removesuffix(f"-{how}"))
            gain, loss = _bleu(results, one, untuned), _bleu(results, untuned, one.baseline)
            if gain and loss:
                effects.append(replace(gain, of=f"{one}, {untuned}", note=_nothing_lost(loss)))
        return effects

    return measure


def _nothing_lost(loss: Effect) -> str:
    """Say that a precision is not shown to lose anything, unless it is."""
    if loss.high is None or loss.high < 0:
        return ""
    value, low, high = (signed_text(signed(one)) for one in (loss.value, loss.low, loss.high))
    return f"A loss before it is not certain: {value} ({low} to {high})."


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


def _ends(results: Results, precision: str) -> list[tuple[Variant, Variant]]:
    """Return the largest and the smallest student, none if they are of one size."""
    found = _by_size(results, precision)
    sizes = [results.size(one.baseline).parameters for one in found]
    if not found or sizes[0] == sizes[-1]:
        return []
    return [(found[0], found[sizes.index(sizes[-1])])]  # the first of several with one size


def _smaller_bleu(results: Results, precision: str, base: Variant | None = None) -> list[Effect]:
    """Return the difference to `base` of the smallest student, minus that of the largest.

    base: by default, the student's own unpruned float32 variant.
    """
    effects = []
    for larger, smaller in _ends(results, precision):
        both = [_bleu(results, v, base or v.baseline) for v in (smaller, larger)]
        if None not in both:
            effects.append(both[0].less(both[1]))
    return effects


def _smaller_lasso_bleu(results: Results) -> list[Effect]:
    """Return what 8 bits cost the smallest student that a recipe pruned, minus what they cost the largest."""
    effects = []
    pruned = [v for v in _lasso(results, "int8") if results.size(v.baseline)]
    for recipe in dict.fromkeys(v.recipe for v in pruned):
        of = [v for v in pruned if v.recipe == recipe]
        of.sort(key=lambda v: results.size(v.baseline).parameters)
        both = [_bleu(results, v, replace(v, precision="float32")) for v in (of[0], of[-1])]
        if len(of) > 1 and None not in both:
            effects.append(both[0].less(both[1]))
    return effects


def _larger_speed(results: Results) -> list[Effect]:
    """Return the ratio of the largest student's speed-up by 8 bits to the smallest's, in each interleaved round."""
    effects = []
    for pair in _ends(results, "int8"):
        timed = [lookup.runtime_speed(results, v) for one in pair for v in (one, one.baseline)]
        if None not in timed:
            large, whole, small, little = timed
            value = (large.words_per_second / whole.words_per_second) / (
                small.words_per_second / little.words_per_second
            )
            rounds = zip(*(one.seconds for one in timed), strict=True)
            ratios = [(whole / large) / (little / small) for large, whole, small, little in rounds]
            of = ", ".join(map(str, pair))
            effects.append(Effect(of, value, min(ratios), max(ratios)))
    return effects


def _smaller_speed(results: Results) -> list[Effect]:
    pairs = _ends(results, "float32")
    return _found([_speed(results, smaller, larger) for larger, smaller in pairs])


def _against_teacher(results: Results) -> list[Effect]:
    teacher = lookup.teacher(results)
    return _smaller_bleu(results, "float32", teacher) if teacher else []


def _log4_bleu(results: Results, small: bool) -> list[Effect]:
    """Return the loss by fine-tuned log 4 bits of students with a small vocabulary, or of the others."""
    variants = _by_size(results, "log4-finetuned")
    chosen = [
        v
        for v in variants
        if (results.size(v.baseline).architecture["vocabulary"] <= SMALL_VOCABULARY) == small
    ]
    return _found([_bleu(results, v, v.baseline) for v in chosen])


MEASURES = {
    "heads-bleu": _against_unpruned(_bleu, _without_heads),
    "heads-speed": _against_unpruned(_speed, _without_heads),
    "heads-gpu-speed": gpu.pruned_speed(_without_heads),
    "int8-speed": _against_unpruned(_speed, partial(_by_size, precision="int8")),
    "larger-int8-speed": _larger_speed,
    "smaller-int8-bleu": partial(_smaller_bleu, precision="int8"),
    "int8-finetuning": _beside_untuned(partial(_by_size, precision="int8-finetuned")),
    "log4-size": _log4_size,
    "log4-bleu": partial(_log4_bleu, small=False),
    "log4-small-vocabulary-bleu": partial(_log4_bleu, small=True),
    "smaller-log4-bleu": partial(_smaller_bleu, precision="log4-finetuned"),
    "log4-finetuning": _beside_untuned(partial(_by_size, precision="log4-finetuned")),
    "log4-biases": _beside_untuned(partial(_by_size, precision="log4-biases"), "biases"),
    "log4-speed": _against_unpruned(_speed, partial(_by_size, precision="log4")),
    "smaller-speed": _smaller_speed,
    "smaller-bleu": _against_teacher,
    "float16-speed": partial(gpu.numbers_speed, "float16", "float32"),
    "float16-bleu": gpu.float16_bleu,
    "gpu-int8-speed": partial(gpu.numbers_speed, "int8", "float16"),
    "gpu-shortlist-speed": gpu.shortlist_speed,
    "lasso-speed": _against_unpruned(_speed, partial(_lasso, precision="float32")),
    "lasso-bleu": _against_unpruned(_bleu, partial(_lasso, precision="float32")),
    "lasso-int8-speed": _against_unpruned(_speed, partial(_lasso, precision="int8-finetuned")),
    "lasso-int8-bleu": _against_unpruned(_bleu, partial(_lasso, precision="int8-finetuned")),
    "lasso-smaller-int8-bleu": _smaller_lasso_bleu,
    "head-lasso-heads": partial(_lasso_heads, "head"),
    "rowcol-lasso-heads": partial(_lasso_heads, "rowcol"),
    "lasso-scratch": _lasso_scratch,
    "lasso-int8-finetuning": _beside_untuned(partial(_lasso, precision="int8-finetuned")),
}
wngt20_claims = partial(claims_table, "wngt20", MEASURES)
wmt21_claims = partial(claims_table, "wmt21", MEASURES)
