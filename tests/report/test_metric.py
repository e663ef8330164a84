"""The page and the tables of metrics: signs of differences, and what is undefined."""

import pytest

from goldcrest.evaluation.metric_quality import Agreement
from goldcrest.evaluation.metric_size import MetricSize
from goldcrest.report.metric_page import in_short
from goldcrest.report.metric_results import MetricResults
from goldcrest.report.metric_tables import agreement_table, paper_table

NEWS = "zh-en.news"


def agreement(metric: str, tau: float | None, difference: float | None) -> Agreement:
    return Agreement(
        metric=metric,
        test_set=NEWS,
        statistic="mqm",
        tau=tau,
        low=None if tau is None else tau - 0.1,
        high=None if tau is None else tau + 0.1,
        segments=9,
        pairs=None,
        compared_with=None if metric == "reference" else "reference",
        difference=difference,
        p_value=None if difference is None else 0.5,
        signature="s",
        test_set_sha256="5" * 64,
        resamples=40,
        seed=1,
        versions={"goldcrest": "0.1.0"},
    )


def results(tau: float | None, difference: float | None) -> MetricResults:
    config = {
        "test_sets": {NEWS: {"paper": "zh-en_news"}},
        "evaluation": {"permutations": 20},
    }
    sizes = [
        MetricSize(name, parameters, 4 * parameters, 2, [1.0], "a" * 64)
        for name, parameters in (("reference", 100), ("pruned", 80))
    ]
    agreements = [agreement("reference", 0.125, None), agreement("pruned", tau, difference)]
    return MetricResults(config, agreements, sizes)


@pytest.mark.parametrize(
    ("difference", "shown"), [(-0.004, "−0.004"), (0.004, "+0.004"), (-0.0001, "+0.000")]
)
def test_the_sign_is_the_number_s_alone(difference, shown):
    lines = in_short(results(0.121, difference))
    assert lines[0] == f"{NEWS}: τ of reference 0.125, pruned 0.121."
    assert lines[1] == f"`pruned`: 20% fewer parameters than the reference, τ {shown} on {NEWS}."


def test_what_is_undefined_is_absent():
    found = results(None, None)
    assert in_short(found) == [
        f"{NEWS}: τ of reference 0.125, pruned –.",
        "`pruned`: 20% fewer parameters than the reference.",
    ]
    last = agreement_table(found).rows[-1]
    assert [cell.text for cell in last.cells[3:]] == [""] * 5
    for row in paper_table(found, 1).rows:
        assert not any("nan" in cell.text.lower() for cell in row.cells)
