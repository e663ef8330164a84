"""Effects that COMETINHO's claims speak of, from the measurements of a metric experiment."""

from collections.abc import Sequence
from functools import partial

from weebill.experiment.metrics import DISTILLED, LEXICAL, PLAIN, PRUNED, REFERENCE, curve
from weebill.report.results import Results
from weebill.report.tables.claims import Effect, claims_table

OURS = "ours"  # beginning of the names of our scorers


def _seconds(results: Results, metric: str, way: str, systems: int) -> Sequence[float]:
    """Return the seconds of each round, none if that was not timed.  way: beginning of its name."""
    for one in results.speeds:
        timed = (one.study, one.metric, one.amount)
        if timed == ("systems", metric, systems) and one.way.startswith(way):
            return one.seconds
    return ()


def _median_of(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _times_as_fast(of: str, slow: Sequence[float], fast: Sequence[float]) -> list[Effect]:
    if not slow or not fast:
        return []
    ratios = [a / b for a, b in zip(slow, fast, strict=True)]
    return [Effect(of, _median_of(slow) / _median_of(fast), min(ratios), max(ratios))]


def _less_time(effects: Sequence[Effect]) -> list[Effect]:
    """Turn times as fast into percent of time saved."""

    def saved(ratio: float) -> float:
        return 100 * (1 - 1 / ratio)

    return [Effect(one.of, *map(saved, (one.value, one.low, one.high))) for one in effects]


def _sorting(systems: int, results: Results) -> list[Effect]:
    plain, ours = (_seconds(results, REFERENCE, way, systems) for way in (PLAIN, OURS))
    return _less_time(_times_as_fast(f"{REFERENCE}, {systems} systems", plain, ours))


def _speed(metric: str, results: Results) -> list[Effect]:
    pair = (_seconds(results, one, OURS, 1) for one in (REFERENCE, metric))
    return _times_as_fast(metric, *pair)


def _time(metric: str, results: Results) -> list[Effect]:
    return _less_time(_speed(metric, results))


def _size(metric: str, results: Results) -> list[Effect]:
    size, whole = results.size(metric), results.size(REFERENCE)
    if not size or not whole:
        return []
    smaller = 100 * (1 - size.parameters / whole.parameters)
    return [Effect(metric, smaller, smaller, smaller)]


def _against_reference(metrics: Sequence[str], results: Results) -> list[Effect]:
    """Return the difference in τ to the reference, on each judged set."""
    return [
        Effect(f"{one.metric}, {one.test_set}", one.difference)
        for one in results.qualities
        if one.metric in metrics and one.compared_with == REFERENCE and one.difference is not None
    ]


def _against_lexical(metric: str, results: Results) -> list[Effect]:
    """Return the difference in τ to the best of BLEU and chrF, on each judged set."""
    effects = []
    for name in results.config["test_sets"]:
        one = results.agreement(metric, name)
        others = [found for lexical in LEXICAL if (found := results.agreement(lexical, name))]
        taus = [other.tau for other in others if other.tau is not None]
        if one and one.tau is not None and taus:
            effects.append(Effect(f"{metric}, {name}", one.tau - max(taus)))
    return effects


def _without_layers(least: int, most: int, results: Results) -> list[Effect]:
    """Return the difference in τ without some top layers, from `least` to `most` of them."""
    config = results.config
    names = (
        []
        if "pruning" not in config or "layers" not in config["pruning"]
        else [*curve(config, "layers")]
    )
    counts = {name: int(name.split("-")[1]) for name in names}
    return _against_reference([n for n, count in counts.items() if least <= count <= most], results)


MEASURES = {
    "sorting-1": partial(_sorting, 1),
    "sorting-8": partial(_sorting, 8),
    "top-layer": partial(_without_layers, 1, 1),
    "top-layers": partial(_without_layers, 1, 5),
    "pruned-tau": partial(_against_reference, [PRUNED]),
    "pruned-time": partial(_time, PRUNED),
    "pruned-lexical": partial(_against_lexical, PRUNED),
    "distilled-tau": partial(_against_reference, [DISTILLED]),
    "distilled-size": partial(_size, DISTILLED),
    "distilled-speed": partial(_speed, DISTILLED),
    "distilled-lexical": partial(_against_lexical, DISTILLED),
}
cometinho_claims = partial(claims_table, "cometinho", MEASURES)
