"""Amounts that recipes remove, compared with counts, and the baselines of each recipe."""

from dataclasses import replace

import pytest

from weebill.configuration.checking import check
from weebill.pruning.recipes import comparisons, methods_of, pruned_students, shape_of

LATE = {"method": "late-reset", "heads_per_iteration": 2, "iterations": 2}
SHARES = {"method": "one-shot", "heads": 0.5, "neurons": 0.25}
RECIPES = {
    "pushy": LATE,
    "chance": {**LATE, "criterion": "random"},
    "chance-at-once": {"method": "one-shot", "criterion": "random", "heads": 0.5},
    "gradient": SHARES,
    "movement": {**SHARES, "method": "movement", "ranking": "layer"},
    "chance-of-both": {**SHARES, "criterion": "random"},
    "elsewhere": {**SHARES, "criterion": "random", "blocks": "encoder.0.*"},
    "top": {"method": "depth"},
    "lasso": {"method": "group-lasso"},
    "lasso-reset": {"method": "group-lasso", "reset": True},
    "anew": {"method": "from-scratch", "like": "lasso"},
    "anew-pushy": {"method": "from-scratch", "like": "pushy"},
}


@pytest.fixture
def config(experiment, zoo):
    training = {"updates": 500_000}
    given = experiment({"students": ["small"], "pruning": RECIPES, "training": training})
    return check(given, "trial.yaml", zoo)


def test_amounts_are_counted_in_the_blocks(config, zoo):
    """The student has 2 encoder layers of 4 heads and 16 neurons."""

    def amount(name, **changes):
        method = replace(methods_of(config)[name], **changes)
        removed = method.removes(shape_of(zoo["small"]))
        return removed and (removed.heads, removed.neurons)

    assert amount("pushy") == (4, 0)
    assert amount("gradient") == (4, 8)
    assert amount("gradient", heads=0.3, neurons=0.1) == (2, 3)  # of 8 and 32 in total
    assert amount("movement", heads=0.3, neurons=0.1) == (2, 2)  # of 4 and 16 in each layer
    assert amount("elsewhere") == (2, 4)
    assert amount("gradient", blocks="decoder.*.feed_forward") == (0, 8)
    assert amount("top") == (0, 0)
    assert methods_of(config)["top"].removes(shape_of(zoo["small"])).layers == 1
    assert amount("lasso") is amount("anew") is None


def compared(config, zoo, student, precision="float32"):
    """Return the baselines of each recipe except the unpruned student."""
    found = {}
    for (of, recipe), pairs in comparisons(config, zoo).items():
        for variant, (_, other, _) in pairs:
            if of == student and variant[2] == precision and other != "unpruned":
                found.setdefault(recipe, []).append(other)
    return found


def test_each_recipe_is_compared_with_chance_and_its_shape_from_scratch(config, zoo):
    assert compared(config, zoo, "small") == {
        "pushy": ["chance", "anew-pushy"],
        "gradient": ["chance-of-both"],
        "movement": ["chance-of-both"],
        "lasso": ["anew"],
        "lasso-reset": ["anew"],
    }


def test_chance_by_another_method_will_do(experiment, zoo):
    recipes = {name: RECIPES[name] for name in ("pushy", "chance-at-once", "gradient")}
    config = check(experiment({"pruning": recipes}), "trial.yaml", zoo)
    assert compared(config, zoo, "small") == {"pushy": ["chance-at-once"]}
    assert compared(config, zoo, "thin") == {}  # half of its heads are only two


def test_only_what_is_measured_is_compared(experiment, zoo):
    variants = ["small/pushy/*", "small/chance/int8", "thin/chance/float32", "small/unpruned/log4"]
    changes = {"pruning": RECIPES, "variants": variants, "training": {"updates": 500_000}}
    config = check(experiment(changes), "trial.yaml", zoo)
    assert pruned_students(config) == [
        ("small", "pushy"),
        ("small", "chance"),
        ("thin", "chance"),
    ]
    found = {
        pair: [("/".join(variant), other[1]) for variant, other in pairs]
        for pair, pairs in comparisons(config, zoo).items()
    }
    assert found == {
        ("small", "pushy"): [
            ("small/pushy/float32", "unpruned"),
            ("small/pushy/int8", "chance"),
            ("small/pushy/log4", "unpruned"),
        ],
        ("thin", "chance"): [("thin/chance/float32", "unpruned")],
    }
