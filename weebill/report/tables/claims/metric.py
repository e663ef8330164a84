"""Effects for COMETINHO's claims, from the measurements of a metric experiment."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from weebill.experiment.metrics import (
    DISTILLED,
    LEXICAL,
    PLAIN,
    REFERENCE,
    curve,
    recipe_metrics,
)
from weebill.report.results import Results
from weebill.report.tables.claims import Effect, claims_table

if TYPE_CHECKING:
    from weebill.evaluation.timing.metric_speed import MetricSpeed

OURS = "ours"  # beginning of the names of our scorers


def _timed(results: Results, metric: str, way: str, systems: int) -> "MetricSpeed | None":
    """Return the times for some systems, None if they were not measured.  way: beginning of the way's name."""
    for one in results.speeds:
        timed = (one.study, one.metric, one.amount)
        if timed == ("systems", metric, systems) and one.way.startswith(way):
            return one
    return None


def _times_as_fast(of: str, slow: "MetricSpeed | None", fast: "MetricSpeed | None") -> list[Effect]:
    if not slow or not fast:
        return []
    return [Effect.of_rounds(of, slow.median / fast.median, fast.seconds, slow.seconds)]


def _sorting(systems: int, results: Results) -> list[Effect]:
    plain, ours = (_timed(results, REFERENCE, way, systems) for way in (PLAIN, OURS))
    found = _times_as_fast(f"{REFERENCE}, {systems} systems", plain, ours)
    return [one.saved() for one in found]


def _speed(metric: str, results: Results) -> list[Effect]:
    pair = (_timed(results, one, OURS, 1) for one in (REFERENCE, metric))
    return _times_as_fast(metric, *pair)


def _time(metric: str, results: Results) -> list[Effect]:
    return [one.saved() for one in _speed(metric, results)]


def _pruned(measure: Callable[[str, Results], list[Effect]], results: Results) -> list[Effect]:
    """Return the effects of every pruned metric in the tables."""
    return [
        effect for metric in recipe_metrics(results.config) for effect in measure(metric, results)
    ]


def _size(metric: str, results: Results) -> list[Effect]:
    size, whole = results.size(metric), results.size(REFERENCE)
    if not size or not whole:
        return []
    return [Effect.exact(metric, 100 * (1 - size.parameters / whole.parameters))]


def _against_reference(metrics: Sequence[str] | str, results: Results) -> list[Effect]:
    """Return the difference in τ between one or several metrics and the reference, on each judged set."""
    metrics = [metrics] if isinstance(metrics, str) else metrics
    return [
        Effect(
            f"{one.metric}, {one.test_set}",
            one.difference,
            one.difference_low,
            one.difference_high,
        )
        for one in results.qualities
        if one.metric in metrics and one.compared_with == REFERENCE and one.difference is not None
    ]


def _against_lexical(metric: str, results: Results) -> list[Effect]:
    """Return the difference in τ to the better of BLEU and chrF, on each judged set."""
    effects = []
    for name in results.config["test_sets"]:
        one = results.agreement(metric, name)
        others = [found for lexical in LEXICAL if (found := results.agreement(lexical, name))]
        taus = [other.tau for other in others if other.tau is not None]
        if one and one.tau is not None and taus:
            effects.append(Effect(f"{metric}, {name}", one.tau - max(taus)))
    return effects


def _without_layers(least: int, most: int, results: Results) -> list[Effect]:
    """Return the difference in τ without `least` to `most` top layers."""
    config = results.config
    names = curve(config, "layers") if "layers" in config.get("pruning", {}) else ()
    counts = {name: int(name.split("-")[1]) for name in names}
    return _against_reference([n for n, count in counts.items() if least <= count <= most], results)


MEASURES = {
    "sorting-1": partial(_sorting, 1),
    "sorting-8": partial(_sorting, 8),
    "top-layer": partial(_without_layers, 1, 1),
    "top-layers": partial(_without_layers, 1, 5),
    "pruned-tau": partial(_pruned, _against_reference),
    "pruned-time": partial(_pruned, _time),
    "pruned-lexical": partial(_pruned, _against_lexical),
    "distilled-tau": partial(_against_reference, [DISTILLED]),
    "distilled-size": partial(_size, DISTILLED),
    "distilled-speed": partial(_speed, DISTILLED),
    "distilled-lexical": partial(_against_lexical, DISTILLED),
}
cometinho_claims = partial(claims_table, "cometinho", MEASURES)
