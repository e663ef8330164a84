"""Figures of movement pruning from its records."""

from dataclasses import replace

from tests.report.generation_results import generation_results, piped
from weebill.experiment.pipelines import variants
from weebill.report.figures.generation import front, pruning_maps, threshold_schedule
from weebill.report.figures.style import in_house_style


def test_figures_show_the_schedule_and_what_went():
    results = generation_results()
    rows = next(iter(threshold_schedule(results).to_dict()["datasets"].values()))
    assert {(row["series"].rsplit(" ", 1)[1], row["update"], row["share"]) for row in rows} == {
        ("heads", 1, 0.0), ("heads", 2, 25.0), ("neurons", 1, 10.0), ("neurons", 2, 60.0),
    }  # fmt: skip
    rows = [row for part in pruning_maps(results).to_dict()["datasets"].values() for row in part]
    runs = {(row["block"], row["first"], row["end"]): row["fate"] for row in rows}
    assert runs == {
        ("a", 0, 1): "removed", ("a", 1, 2): "kept",
        ("b", 0, 1): "kept", ("b", 1, 3): "removed", ("b", 3, 4): "kept",
    }  # fmt: skip


def test_a_map_of_a_large_model_is_drawn():
    """The runs of GPT-2's 36,864 neurons are more than the 5,000 rows that Altair allows by itself."""
    results = generation_results()
    scores = {"neurons": {"a": [0.0] * 6000}}
    record = {"scores": scores, "survivors": {"neurons": {"a": [*range(0, 6000, 2)]}}}
    results.prunings = [record for _ in results.prunings]
    [rows] = in_house_style(pruning_maps(results))["datasets"].values()
    assert len(rows) == 6000


def test_one_panel_compares_by_one_metric():
    """Perplexity is per token, so bits per byte are drawn if a variant has a pruned vocabulary."""
    results, metrics = generation_results(), []
    for pipelines in (["small/fine-tuned"], ["small/fine-tuned", "small/used-pieces"]):
        found = piped(results, *pipelines)
        names = variants(found.config)
        measured = {
            field: [replace(getattr(results, field)[0], variant=name) for name in names]
            for field in ("sizes", "speeds")
        }
        drawn = front(replace(found, **measured)).to_dict()["datasets"].values()
        metrics.append({row["metric"] for part in drawn for row in part})
    assert metrics == [{"perplexity"}, {"bits per byte"}]
