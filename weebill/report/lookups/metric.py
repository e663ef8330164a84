"""Lookups in the results of a metric experiment, by metric."""

from typing import TYPE_CHECKING

from weebill.report.results import Results

if TYPE_CHECKING:
    from weebill.evaluation.quality.metric_quality import Agreement


def agreement(results: Results, metric: str, test_set: str) -> "Agreement | None":
    """Return the agreement of a metric on a judged set, None if it was not measured."""
    wanted = (metric, test_set)
    return next((a for a in results.qualities if (a.metric, a.test_set) == wanted), None)


def seconds(results: Results, study: str, metric: str, way: str, amount: int) -> float | None:
    """Return the median seconds of one way to score an amount of text, None if it was not measured."""
    key = (study, metric, way, amount)
    found = (s for s in results.speeds if (s.study, s.metric, s.way, s.amount) == key)
    return next((one.median for one in found), None)


def metrics(results: Results) -> list[str]:
    """Return the metrics that were measured on the test sets, in the order of the measurements."""
    sets = results.config["test_sets"]
    return list(dict.fromkeys(a.metric for a in results.qualities if a.test_set in sets))
