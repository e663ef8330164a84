"""Patterns choose variants and exports."""

from weebill.configuration.checking import check
from weebill.experiment.variants import expand_exports, expand_variants

PRECISIONS = ["float32", "int8", "int8-finetuned", "log4"]


def test_all_variants(experiment, zoo):
    config = check(experiment(), "trial.yaml", zoo)
    assert expand_variants(config) == [
        (student, recipe, precision)
        for student in ("small", "thin")
        for recipe in ("unpruned", "pushy")
        for precision in PRECISIONS
    ]


def test_the_baseline_is_always_made_and_nothing_twice(experiment, zoo):
    patterns = {"variants": ["small/pushy/int8", "small/pushy/int8*", "*l/p*/float32"]}
    assert expand_variants(check(experiment(patterns), "trial.yaml", zoo)) == [
        ("small", "unpruned", "float32"),
        ("small", "pushy", "float32"),
        ("small", "pushy", "int8"),
        ("small", "pushy", "int8-finetuned"),
        ("thin", "unpruned", "float32"),
    ]


def test_exports_are_found_by_patterns_once_each(experiment, zoo):
    patterns = {"onnx": ["thin/*/log4", "*/pushy/log4"], "marian": ["small/unpruned/float32"]}
    config = check(experiment({"exports": patterns}), "trial.yaml", zoo)
    assert expand_exports(config) == [
        ("onnx", ("thin", "unpruned", "log4")),
        ("onnx", ("thin", "pushy", "log4")),
        ("onnx", ("small", "pushy", "log4")),
        ("marian", ("small", "unpruned", "float32")),
    ]
    assert expand_exports(check(experiment(), "trial.yaml", zoo)) == []
