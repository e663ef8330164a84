"""Invented results of a metric experiment."""

from weebill.evaluation.quality.metric_quality import Agreement
from weebill.evaluation.size.metric_size import MetricSize
from weebill.report.results import Results

NEWS = "zh-en.news"


def agreement(
    metric: str, tau: float | None, difference: float | None, test_set: str = NEWS
) -> Agreement:
    return Agreement(
        metric=metric,
        test_set=test_set,
        statistic="mqm",
        tau=tau,
        low=None if tau is None else tau - 0.1,
        high=None if tau is None else tau + 0.1,
        segments=9,
        pairs=None,
        compared_with=None if metric == "reference" else "reference",
        difference=difference,
        difference_low=None if difference is None else difference - 0.02,
        difference_high=None if difference is None else difference + 0.02,
        p_value=None if difference is None else 0.5,
        signature="s",
        test_set_sha256="5" * 64,
        resamples=40,
        seed=1,
        versions={"weebill": "0.1.0"},
    )


def metric_results(tau: float | None, difference: float | None) -> Results:
    config = {
        "test_sets": {NEWS: {"paper": "zh-en_news", "table": "news.tsv"}},
        "evaluation": {"permutations": 20},
        "pruning": {"recipe": [{"method": "depth", "layers": 1}]},
    }
    sizes = [
        MetricSize(name, parameters, 4 * parameters, 2, [1.0], "a" * 64)
        for name, parameters in (("reference", 100), ("pruned", 80))
    ]
    agreements = [agreement("reference", 0.125, None), agreement("pruned", tau, difference)]
    return Results(config, agreements, sizes)
