"""Students with other texts and seeds: parts of their names, measurements, and mistakes."""

import pytest

from weebill.configuration.checking import check
from weebill.experiment.student_names import (
    architecture_of,
    first_of,
    seed_of,
    text_of,
    with_students,
)
from weebill.experiment.variants import expand_variants, measured_variants
from weebill.pruning.recipes import comparisons, comparisons_over_seeds

RECIPES = {
    "pushy": {"method": "late-reset", "heads_per_iteration": 2, "iterations": 2},
    "random": {"method": "one-shot", "criterion": "random", "heads": 0.5, "ranking": "global",
               "blocks": "encoder.*"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "architecture", "text", "seed"),
    [
        ("tiny", "tiny", None, 5),
        ("12-1.tiny@parallel", "12-1.tiny", "parallel", 5),
        ("tiny~7", "tiny", None, 7),
        ("tiny@a-b~0", "tiny", "a-b", 0),
    ],
)
def test_the_parts_of_a_name(name, architecture, text, seed):
    assert architecture_of(name) == architecture
    assert text_of(name) == text
    assert seed_of(name, {"seed": 5}) == seed


def test_every_name_has_the_shape_of_its_architecture(zoo):
    found = with_students(zoo, ["small", "small~3", "paper.8k~4", "none~5"])
    assert found["small~3"] == zoo["small"]
    assert found["paper.8k~4"] == {
        key: value for key, value in zoo["paper.8k"].items() if key != "paper"
    }
    assert "none~5" not in found


def test_other_seeds_are_compared_and_no_more(experiment, zoo):
    changes = {
        "students": ["small", "thin", "small~2", "small~3"],
        "pruning": RECIPES,
        "variants": [
            "small*/*/float32",
            "small/pushy/int8",
            "small~3/pushy/int8",
            "thin/*/float32",
        ],
    }
    config = check(experiment(changes, ["pruning.pushy"]) | {"pruning": RECIPES}, "trial.yaml", zoo)
    zoo = with_students(zoo, config["students"])
    assert {one[0] for one in expand_variants(config)} == {"small", "thin", "small~2", "small~3"}
    assert {one[0] for one in measured_variants(config)} == {"small", "thin"}
    assert {student for student, _ in comparisons(config, zoo)} == {"small", "thin"}
    found = comparisons_over_seeds(config, zoo)
    assert list(found) == ["small"]
    by_recipe = {
        (by_seed[0][0][1:], by_seed[0][1][1]): [variant[0] for variant, _ in by_seed]
        for by_seed in found["small"]
    }
    thrice = ["small", "small~2", "small~3"]
    assert by_recipe == {
        (("pushy", "float32"), "unpruned"): thrice,
        (("pushy", "float32"), "random"): thrice,
        (("random", "float32"), "unpruned"): thrice,
    }
    for by_seed in found["small"]:
        for variant, baseline in by_seed:
            assert variant[0] == baseline[0] and first_of(variant[0]) == "small"


@pytest.mark.parametrize(
    ("students", "expected"),
    [
        (["small", "small~x"], "students[1]: found 'small~x', expected a seed behind the ~, 0 to 4294967295"),
        (["small", "small~07"], "students[1]: found 'small~07', expected a seed behind the ~, 0 to 4294967295"),
        (["small", "small~1"], "students[1]: found 'small~1', expected another seed than the experiment's"),
        (["thin", "small~2"], "students[1]: found 'small~2', expected 'small' too, which it repeats"),
    ],
)  # fmt: skip
def test_mistakes(faults, students, expected):
    assert faults({"students": students}, []) == [expected]
