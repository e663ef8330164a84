"""Models of the first page: the best of each kind, and no baseline."""

from weebill.evaluation.measurement import Variant
from weebill.report.front import chosen


def test_baselines_of_pruning_are_never_the_best(pruned_results):
    pruned_results.config = {**pruned_results.config, "students": ["small"]}
    found = {str(variant) for variant in chosen.roles(pruned_results)}
    assert "small/pushy/float32" in found and not any("chance" in one for one in found)
    assert chosen.best_small(pruned_results) == Variant("small", "unpruned", "float32")
