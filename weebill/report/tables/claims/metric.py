"""Effects for COMETINHO's claims, from the measurements of a metric experiment."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from weebill.experiment.metrics import (
    DISTILLED,
    LEXICAL,
    OURS_WAY,
    PLAIN,
    REFERENCE,
    SORTED_CACHED,
    curve,
    recipe_metrics,
)
from weebill.report import papers
from weebill.report.results import Results
from weebill.report.table import signed, signed_text
from weebill.report.tables.beside_papers.cometinho import PRINTED
from weebill.report.tables.claims import Effect, claims_table

if TYPE_CHECKING:
    from weebill.evaluation.quality.metric_quality import Agreement
    from weebill.evaluation.timing.metric_speed import MetricSpeed

HIGH_RESOURCE, LOW_RESOURCE = 1, 2  # the paper's tables of languages with much and with little text
NEURAL = ("PRISM", "BERTScore")
TOP_LAYERS = 5 / 24  # share of the layers that the paper removes without a loss


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
    plain, fast = (_timed(results, REFERENCE, way, systems) for way in (PLAIN, SORTED_CACHED))
    of = f"{REFERENCE}, {systems} system{'s' * (systems > 1)}"
    found = _times_as_fast(of, plain, fast)
    return [one.saved() for one in found]


def _speed(metric: str, results: Results) -> list[Effect]:
    pair = (_timed(results, one, OURS_WAY, 1) for one in (REFERENCE, metric))
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


def _judged(results: Results, *tables: int) -> dict[str, str]:
    """Return the judged sets that stand for columns of the paper's tables → their columns."""
    columns = {name for number in tables for name in papers.load_table("cometinho", number).columns}
    sets = results.config["test_sets"].items()
    return {name: one["paper"] for name, one in sets if one.get("paper") in columns}


def _against_reference(metric: str, results: Results, tables: Sequence[int]) -> list[Effect]:
    """Return the difference in τ to the reference: the mean over the judged sets of the paper's tables."""
    sets = _judged(results, *tables)
    found = {
        one.test_set: _difference(one)
        for one in results.qualities
        if one.metric == metric
        and one.test_set in sets
        and one.compared_with == REFERENCE
        and one.difference is not None
    }
    if not found:
        return []
    printed = _printed_difference(metric, [sets[name] for name in found])
    return [Effect.mean(f"{metric}, {', '.join(found)}", list(found.values()), printed)]


def _difference(one: "Agreement") -> Effect:
    of = f"{one.metric}, {one.test_set}"
    return Effect(of, one.difference, one.difference_low, one.difference_high)


def _printed_difference(metric: str, columns: Sequence[str]) -> str:
    """Say what the paper's tables have for a metric in the given columns."""
    rows: dict[str, dict[str, str]] = {}
    for number in (HIGH_RESOURCE, LOW_RESOURCE):
        for row in papers.load_table("cometinho", number).to_dict("records"):
            rows.setdefault(row["metric"], {}).update(row)
    ours, whole = rows.get(PRINTED.get(metric, "")), rows[PRINTED[REFERENCE]]
    if not ours:
        return ""
    mean = fmean(float(ours[name]) - float(whole[name]) for name in columns)
    return f"In the paper's table, on the same sets: {signed_text(signed(mean, 3))}."


def _without_layers(count: Callable[[int, int], bool], results: Results) -> list[Effect]:
    """Return the difference in τ on each judged set without some top layers.

    count: called with the numbers of layers that are removed and that there were; True if the effect counts.
    """
    config, size = results.config, results.size(REFERENCE)
    if "layers" not in config.get("pruning", {}) or not size:
        return []
    names = {
        name for name in curve(config, "layers") if count(int(name.split("-")[1]), size.layers)
    }
    return [
        _difference(one)
        for one in results.qualities
        if one.metric in names and one.compared_with == REFERENCE and one.difference is not None
    ]


def _against_others(others: Sequence[str], metric: str, results: Results) -> list[Effect]:
    """Return the difference in τ to the best of other metrics: the mean over the judged sets."""
    effects, sets = [], []
    for name in results.config["test_sets"]:
        every = [results.agreement(one, name) for one in (metric, *others)]
        known = [one for one in every if one and one.tau is not None]
        if len(known) > 1 and known[0].metric == metric:
            best = max(known[1:], key=lambda one: one.tau)
            effects.append(_tau(known[0]).less(_tau(best)))
            sets.append(name)
    return [Effect.mean(f"{metric}, {', '.join(sets)}", effects)] if effects else []


def _tau(one: "Agreement") -> Effect:
    return Effect(one.metric, one.tau, one.low, one.high)


def _one(removed: int, layers: int) -> bool:
    return removed == 1


def _papers_share(removed: int, layers: int) -> bool:
    return removed <= max(1, TOP_LAYERS * layers)


HIGH, BOTH = (HIGH_RESOURCE,), (HIGH_RESOURCE, LOW_RESOURCE)
MEASURES = {
    "sorting-1": partial(_sorting, 1),
    "sorting-8": partial(_sorting, 8),
    "top-layer": partial(_without_layers, _one),
    "top-layers": partial(_without_layers, _papers_share),
    "pruned-tau": partial(_pruned, partial(_against_reference, tables=BOTH)),
    "pruned-size": partial(_pruned, _size),
    "pruned-time": partial(_pruned, _time),
    "pruned-lexical": partial(_pruned, partial(_against_others, LEXICAL)),
    "pruned-neural": partial(_pruned, partial(_against_others, NEURAL)),
    "distilled-tau": partial(_against_reference, DISTILLED, tables=HIGH),
    "distilled-low-resource-tau": partial(_against_reference, DISTILLED, tables=(LOW_RESOURCE,)),
    "distilled-size": partial(_size, DISTILLED),
    "distilled-speed": partial(_speed, DISTILLED),
    "distilled-lexical": partial(_against_others, LEXICAL, DISTILLED),
    "distilled-neural": partial(_against_others, NEURAL, DISTILLED),
}
cometinho_claims = partial(claims_table, "cometinho", MEASURES)
