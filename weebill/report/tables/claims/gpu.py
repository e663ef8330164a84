"""Effects for WNGT20's and WMT21's claims of GPUs: ratios of timings in equal settings."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product, starmap
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.tables.claims import Effect

if TYPE_CHECKING:
    from weebill.evaluation.timing.gpu_speed import GpuSpeed

    Pair = tuple[GpuSpeed, GpuSpeed]
    Setting = Callable[[GpuSpeed], tuple[object, ...]]  # equal for timings that can be compared


def numbers_speed(numbers: str, other: str, results: Results) -> list[Effect]:
    """Return the speed-up of each model by one kind of numbers over another, by batch size."""
    return list(starmap(_ratio, _by_numbers(results, numbers, other)))


def float16_bleu(results: Results) -> list[Effect]:
    """Return the largest change of a test set's BLEU by float16, by model and batch size."""
    effects = []
    for one, other in _by_numbers(results, "float16", "float32"):
        changes = [one.bleu[name] - other.bleu[name] for name in one.bleu if name in other.bleu]
        if changes:
            effects.append(Effect.exact(_name(one), max(changes, key=abs)))
    return effects


def shortlist_speed(results: Results) -> list[Effect]:
    """Return the speed-up of each student by a shortlist, by batch size."""

    def setting(one: "GpuSpeed") -> tuple[object, ...]:
        return one.variant, one.numbers, one.batch_size

    speeds = lookup.timed_on_gpu(results)
    ours, base = ([one for one in speeds if one.shortlist == on] for on in (True, False))
    return list(starmap(_ratio, _pairs(ours, base, setting)))


def pruned_speed(
    chosen: Callable[[Results], Sequence[Variant]],
) -> Callable[[Results], list[Effect]]:
    """Measure the speed-up of chosen float32 variants over their unpruned students, by numbers and batch size."""

    def setting(one: "GpuSpeed") -> tuple[object, ...]:
        return *_stored(one), one.numbers, one.batch_size, one.shortlist

    def measure(results: Results) -> list[Effect]:
        speeds, variants = lookup.timed_on_gpu(results), set(map(str, chosen(results)))
        bases = {str(Variant.parse(one).baseline) for one in variants}
        ours, base = ([one for one in speeds if one.variant in some] for some in (variants, bases))
        return list(starmap(_ratio, _pairs(ours, base, setting)))

    return measure


def _by_numbers(results: Results, numbers: str, other: str) -> "Iterator[Pair]":
    """Yield the pairs of timings that differ in the kind of numbers.

    int8 is a separate variant, which is compared with the float32 variant of the same student and recipe.
    """

    def setting(one: "GpuSpeed") -> tuple[object, ...]:
        return *_stored(one), Variant.parse(one.variant).recipe, one.batch_size, one.shortlist

    speeds = lookup.timed_on_gpu(results)
    ours, base = ([one for one in speeds if one.numbers == kind] for kind in (numbers, other))
    return _pairs(ours, base, setting)


def _stored(one: "GpuSpeed") -> tuple[str, str]:
    """Return the student, and the precision of its stored weights; int8 is multiplied instead of float32."""
    variant = Variant.parse(one.variant)
    return variant.student, "float32" if one.numbers == "int8" else variant.precision


def _pairs(
    ours: "Sequence[GpuSpeed]", base: "Sequence[GpuSpeed]", setting: "Setting"
) -> "Iterator[Pair]":
    return (pair for pair in product(ours, base) if setting(pair[0]) == setting(pair[1]))


def _ratio(one: "GpuSpeed", other: "GpuSpeed") -> Effect:
    ratio = one.words_per_second / other.words_per_second
    return Effect.of_rounds(_name(one), ratio, one.seconds, other.seconds)


def _name(one: "GpuSpeed") -> str:
    return f"{one.variant}, batches of {one.batch_size}" + ", shortlist" * one.shortlist
