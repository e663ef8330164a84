"""Figures of pruning's gains, compared with the invented experiment that they show."""

import json

from tests.report.conftest import PRUNED
from weebill.report.figures import pruning as pruning_figures
from weebill.report.results import Results


def datasets(chart) -> list[dict]:
    return [row for data in chart.to_dict()["datasets"].values() for row in data]


def test_a_line_for_each_method_that_takes_heads(pruned_results):
    rows = datasets(pruning_figures.quality_by_heads(pruned_results))
    found = {
        (r["method"], r["heads"], r["what"], r["score"], r["baseline"]) for r in rows if r["heads"]
    }
    assert found == {
        ("late-reset, confidence", 12, "heads", 29.5, False),
        ("late-reset, random", 12, "heads", 28.25, True),
        ("group-lasso, rowcol", 12, "heads and neurons", 29.0, False),
        ("from-scratch", 12, "heads and neurons", 28.0, True),
        ("depth", 8, "layers", 27.0, False),
    }
    assert {r["score"] for r in rows if not r["heads"]} == {30.0}
    assert all((r["low"], r["high"]) == (r["score"] - 1, r["score"] + 1) for r in rows)
    assert len({r["shown"] for r in rows if r["heads"] == 12}) == 4  # no point hides another point


def test_methods_that_take_no_neurons_are_not_in_that_figure(pruned_results):
    rows = datasets(pruning_figures.quality_by_neurons(pruned_results))
    taken = {(r["method"], r["neurons"]) for r in rows if r["neurons"]}
    assert taken == {("group-lasso, rowcol", 0.75), ("from-scratch", 0.75), ("depth", 0.5)}
    only_heads = [one for one in pruned_results.comparisons if "/pushy/" in one.variant]
    pruned_results.comparisons = only_heads
    assert "none in this experiment" in json.dumps(
        pruning_figures.quality_by_neurons(pruned_results).to_dict()
    )


def test_quality_by_speed_shows_every_variant_that_was_compared(pruned_results):
    rows = datasets(pruning_figures.quality_by_speed(pruned_results))
    found = {(r["recipe"], r["precision"], r["words_per_second"], r["score"]) for r in rows}
    assert found == {
        (recipe, precision, times * rate, bleu - loss)
        for recipe, (_, _, _, bleu, rate) in PRUNED.items()
        for precision, times, loss in (("float32", 1, 0.0), ("int8", 2, 0.25))
    }


HEADS = [
    {"student": "small", "recipe": recipe, "block": block, "head": head, "removed_in": step, "score": score}
    for recipe, block, head, step, score in (
        ("pushy", "encoder.0.self_attention", "0", "2", "0.5"),
        ("pushy", "encoder.0.self_attention", "1", "", "0.75"),
        ("lasso", "decoder.1.cross_attention", "7", "1", ""),
    )
]  # fmt: skip


def test_head_maps_tell_the_step_of_each_head():
    rows = datasets(pruning_figures.head_maps(Results({}, head_map=HEADS)))
    assert [(r["recipe"], r["layer"], r["head"], r["step"], r["score"]) for r in rows] == [
        ("small/pushy", "encoder 1", 1, 2, 0.5),
        ("small/pushy", "encoder 1", 2, None, 0.75),
        ("small/lasso", "decoder 2 cross", 8, 1, None),
    ]
