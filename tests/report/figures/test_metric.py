"""Curves of parts that are cut from metrics."""

import pytest

from tests.report.metric_results import agreement
from weebill.evaluation.size.metric_size import MetricSize
from weebill.experiment.metrics import recipe_without
from weebill.report.figures.metric import quality_curve
from weebill.report.results import Results


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
    chart = quality_curve(Results({"pruning": pruning}, agreements, sizes), name)
    drawn = chart.to_dict()
    (rows,) = drawn["datasets"].values()
    assert [row["kept"] for row in rows] == kept
    assert rows[0]["tau"] == {"cometinho_figure6a": 0.0, "cometinho_figure6b": 0.1}[name]
    assert drawn["title"] == title
