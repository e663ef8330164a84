"""Effects of COMETINHO's claims, computed from invented measurements."""

import dataclasses

import pytest

from tests.report.metric_results import NEWS, agreement, metric_results
from weebill.evaluation.timing.metric_speed import MetricSpeed
from weebill.experiment.metrics import PLAIN, SORTED, SORTED_CACHED
from weebill.report.tables.claims.metric import MEASURES


def timed(metric, way, systems, *seconds):
    return MetricSpeed(
        "systems", metric, way, systems, [*seconds], sorted(seconds)[1], "processor", {}
    )


@pytest.fixture
def results():
    found = metric_results(0.115, -0.01)
    found.config["pruning"] |= {"layers": [1, 2, 8]}
    found.config["test_sets"][NEWS]["paper"] = "en-de_news"
    lexical = [agreement("BLEU", 0.05, -0.075), agreement("chrF", 0.0875, -0.0375)]
    layers = [
        agreement("without-1-top-layers", 0.13, 0.005),
        agreement("without-2-top-layers", 0.12, -0.005),
        agreement("without-8-top-layers", 0.1, -0.025),
    ]
    speeds = [
        timed("reference", PLAIN, 1, 4.0, 4.0, 5.0),
        timed("reference", SORTED, 1, 3.0, 3.0, 3.0),
        timed("reference", SORTED_CACHED, 1, 1.0, 2.0, 2.0),
        timed("reference", "ours, float32", 1, 1.0, 2.0, 2.0),
        timed("pruned", "ours, float32", 1, 1.0, 1.0, 1.0),
    ]
    return dataclasses.replace(
        found, qualities=[*found.qualities, *lexical, *layers], speeds=speeds
    )


def only(effects):
    (one,) = effects
    return one


def test_times_are_saved_in_percent_within_the_rounds(results):
    one = only(MEASURES["sorting-1"](results))
    assert (one.value, one.low, one.high) == (50.0, 50.0, 75.0)
    assert MEASURES["sorting-8"](results) == []
    pruned = only(MEASURES["pruned-time"](results))
    assert (pruned.value, pruned.low, pruned.high) == (50.0, 0.0, 50.0)


def test_agreement_is_compared_with_the_reference_and_with_the_better_of_bleu_and_chrf(results):
    tau = only(MEASURES["pruned-tau"](results))
    assert (tau.value, tau.low, tau.high) == (-0.01, pytest.approx(-0.03), pytest.approx(0.01))
    lexical = only(MEASURES["pruned-lexical"](results))
    assert (lexical.of, lexical.value) == (f"pruned, {NEWS}", pytest.approx(0.0275))
    assert only(MEASURES["top-layer"](results)).of == f"without-1-top-layers, {NEWS}"
    assert [one.of for one in MEASURES["top-layers"](results)] == [f"without-1-top-layers, {NEWS}"]
    assert MEASURES["distilled-size"](results) == []


def test_every_recipe_is_held_against_what_is_said_of_pruning(results):
    results.config["pruning"]["recipes"] = {"narrow": [{"method": "one-shot", "heads": 0.25}]}
    qualities = [*results.qualities, agreement("narrow", 0.12, -0.005)]
    speeds = [*results.speeds, timed("narrow", "ours, float32", 1, 0.5, 0.5, 0.5)]
    found = dataclasses.replace(results, qualities=qualities, speeds=speeds)
    taus = {one.of: one.value for one in MEASURES["pruned-tau"](found)}
    assert taus == {f"pruned, {NEWS}": -0.01, f"narrow, {NEWS}": -0.005}
    times = {one.of: one.value for one in MEASURES["pruned-time"](found)}
    assert times == {"pruned": 50.0, "narrow": 75.0}
    lexical = {one.of: one.value for one in MEASURES["pruned-lexical"](found)}
    assert lexical[f"narrow, {NEWS}"] == pytest.approx(0.12 - 0.0875)
