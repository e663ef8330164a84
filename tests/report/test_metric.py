"""The page and the tables of metrics: signs of differences, and what is undefined."""

import pytest

from weebill.evaluation.quality.metric_quality import Agreement
from weebill.evaluation.size.metric_size import MetricSize
from weebill.evaluation.timing.metric_speed import PLAIN, MetricSpeed
from weebill.experiment.metrics import recipe_without
from weebill.report import papers
from weebill.report.metric_figures import quality_curve
from weebill.report.metric_page import in_short
from weebill.report.metric_results import MetricResults
from weebill.report.metric_tables import agreement_table, claims_table, paper_table

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
        p_value=None if difference is None else 0.5,
        signature="s",
        test_set_sha256="5" * 64,
        resamples=40,
        seed=1,
        versions={"weebill": "0.1.0"},
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


def test_the_mean_of_ours_stands_beside_the_paper_s_where_all_are_there():
    table = paper_table(results(0.121, -0.004), 1)
    assert "avg_ours" not in [column.key for column in table.columns]
    names = [key for key in papers.load_table("cometinho", 1).columns if "_" in key]
    sets = {name: {"paper": name} for name in names if name != "params_m"}
    config = {"test_sets": sets, "evaluation": {"permutations": 20}}
    agreements = [
        agreement("reference", number / 10, None, name) for number, name in enumerate(sets)
    ]
    table = paper_table(MetricResults(config, agreements, []), 1)
    place = [column.key for column in table.columns].index("avg_ours")
    shown = {row.cells[0].text: row.cells[place].text for row in table.rows}
    assert shown["COMET"] == "0.250" and shown["BLEU"] == ""  # of 0, 0.1, …, 0.5; of nothing


def test_claims_are_of_measured_times():
    def speed(study, metric, way, amount, seconds):
        return MetricSpeed(study, metric, way, amount, [seconds], seconds, "one core", {})

    speeds = [
        speed("systems", "reference", PLAIN, 1, 8.0),
        speed("systems", "reference", "ours, float32", 1, 4.0),
        speed("systems", "distilled", "ours, float32", 1, 1.0),
        speed("segments", "reference", "ours, float32", 40, 4.0),
    ]
    found = results(0.121, -0.004)
    sizes = [*found.sizes, MetricSize("distilled", 20, 80, 2, [1.0], "a" * 64)]
    table = claims_table(MetricResults(found.config, found.agreements, sizes, speeds))
    ours = {row.cells[0].text: row.cells[2].text for row in table.rows}
    assert ours["caching+length batching: time reduction scoring 1 system"] == "50.00"
    assert ours["DISTIL-COMET seconds per 1000 samples"] == "25.00"
    assert ours["DISTIL-COMET speed improvement"] == "75.00"
    assert ours["DISTIL-COMET speed factor"] == "4.000"
    assert ours["PRUNE-COMET seconds per 1000 samples"] == ""


@pytest.mark.parametrize(
    ("name", "kept", "title"),
    [
        ("cometinho_figure6a", [1.0, 0.75, 0.5], "Quality by feed-forward size"),
        ("cometinho_figure6b", [1.0, 0.5], "Quality by heads, 0.75 of the neurons kept"),
    ],
)
def test_a_curve_begins_with_what_it_is_cut_of(name, kept, title):
    pruning = {"layers": [], "neurons": [0.25, 0.5], "heads": [0.5]}
    pruning["recipe"] = recipe_without(layers=1, neurons=0.25, heads=0.5)
    cut = ["without-0.25-neurons", "without-0.5-neurons", "without-0.5-heads"]
    metrics = ["reference", *cut, "pruned"]
    agreements = [agreement(one, n / 10, None, "development") for n, one in enumerate(metrics)]
    sizes = [MetricSize(one, 100, 400, 2, [1.0], "a" * 64) for one in metrics]
    chart = quality_curve(MetricResults({"pruning": pruning}, agreements, sizes), name)
    drawn = chart.to_dict()
    (rows,) = drawn["datasets"].values()
    assert [row["kept"] for row in rows] == kept
    assert rows[0]["tau"] == {"cometinho_figure6a": 0.0, "cometinho_figure6b": 0.1}[name]
    assert drawn["title"] == title
