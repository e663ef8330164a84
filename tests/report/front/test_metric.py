"""The first page of a metric experiment shows how much smaller a metric is, and what it loses."""

from tests.report.metric_results import NEWS, agreement, metric_results
from weebill.report.costs import Job
from weebill.report.front import metric


def test_the_verdict_tells_size_loss_and_cost():
    results = metric_results(0.121, -0.004)
    results.config |= {"experiment": "m", "seed": 1, "encoders": {}}
    gain, loss, cost = metric.front(results, [Job("prune_metric", "pruned", 1800, 1)], []).verdict
    assert gain.startswith(
        "`pruned` is 1.25× smaller than the reference metric: "
    )  # 100 / 80 bytes
    assert gain.endswith(". Its speed was not measured.")
    assert loss == (
        f"Its agreement with people is τ 0.121 on {NEWS} (−0.004 against the reference, p = 0.500)."
    )
    assert cost == "The run times of all jobs add up to 30.0 minutes."


def test_what_speaks_against_the_method_is_told():
    results = metric_results(0.121, -0.004)
    results.config |= {"experiment": "m", "seed": 1, "encoders": {}}
    results.qualities = [*results.qualities, agreement("ensemble", 0.117, -0.008)]
    verdict = metric.front(results, [], []).verdict
    assert any(
        line.startswith("The mean of the references' scores") and "−0.008 on " in line
        for line in verdict
    )


def test_an_experiment_without_smaller_metrics_tells_its_cost():
    results = metric_results(None, None)
    results.config |= {"experiment": "m", "seed": 1, "encoders": {}}
    results.qualities = results.qualities[:1]  # the reference
    jobs = [Job("train_reference", "0", 1800, 1)]
    assert metric.front(results, jobs, []).verdict == [
        "The run times of all jobs add up to 30.0 minutes."
    ]


def test_the_time_of_the_reference_is_that_of_one_member():
    """The reference is the ensemble's first member."""
    results = metric_results(0.121, -0.004)
    results.qualities = [*results.qualities, agreement("ensemble", 0.2, 0.1)]
    trained = [Job("train_reference", str(n), 3600.0 * (n + 1), 1) for n in range(5)]
    for jobs, hours in (
        (trained, ["1.0", "", "15.0"]),
        ([Job("import_reference", "", 7200.0, 1)], ["2.0", "", ""]),
    ):
        table = metric.metrics_table(results, jobs)
        place = [column.key for column in table.columns].index("hours")
        assert [row.cells[place].text for row in table.rows] == hours
