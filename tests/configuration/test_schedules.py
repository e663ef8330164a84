"""Trainings that end before they learn or are validated are refused; the error gives the right line.

With a small number of updates, defaults adapt.
"""

import pytest

from tests.configuration.changes import refused, with_key
from tests.configuration.test_metric import SMALL as METRIC
from weebill.configuration.checking import check
from weebill.configuration.schedules import training_faults
from weebill.yaml_files import read_yaml

SHORT = {"updates": 150, "warmup": 16000, "validate_every": 5000}
FOLLOWING = {"warmup": 15, "validate_every": 15, "checkpoint_every": 15}
WARMUP = (
    "{}.warmup: found 16000 of 150 updates ({}.updates), expected less, or the learning rate never "
    "reaches its peak and little is learnt: write 'warmup: 15', a tenth of the updates, as is usual"
)
VALIDATION = (
    "{}.validate_every: found 5000 of 150 updates ({}.updates), expected at most these, or nothing is "
    "ever validated: write 'validate_every: 15' for 10 validations"
)


def both(place):
    return [told.format(place, place) for told in (WARMUP, VALIDATION)]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"training": SHORT, "pruning": {}}, "training"),
        ({"teacher": {"training": SHORT}}, "teacher.training"),
        (
            {"reverse_teacher": {"architecture": "big", "training": SHORT}},
            "reverse_teacher.training",
        ),
        (
            {
                "scoring": {"reverse_model": {"architecture": "big", "training": SHORT}},
                "distillation": {"scores": {"reverse_model": {"cut": {"percent": 5}}}},
            },
            "scoring.reverse_model.training",
        ),
    ],
)
def test_a_short_training_with_the_lengths_of_a_paper(faults, changes, place):
    without = ["pruning.pushy"] if place == "training" else []
    found = [line for line in faults(changes, without) if "found without work" not in line]
    assert found == both(place)


def test_defaults_follow_a_short_training(experiment, zoo):
    """Defaults are a tenth of the updates if the paper's value is larger; explicit values stay."""
    changes = {"teacher": {"training": {"updates": 150}}, "training": {"updates": 40_000}}
    changes["quantization"] = {"int8": {"finetune": {"updates": 100}}, "log4": {"finetune": {}}}
    changes["reverse_teacher"] = {"architecture": "big", "training": {"updates": 5, "warmup": 4}}
    changes["distillation"] = {"scores": {"reverse_model": {"cut": {"percent": 5}}}}
    found = check(experiment(changes), "x.yaml", zoo)
    assert FOLLOWING.items() <= found["teacher"]["training"].items()
    students, reverse = found["training"], found["reverse_teacher"]["training"]
    assert [students[key] for key in FOLLOWING] == [4000, 4000, 1000]
    assert [reverse[key] for key in FOLLOWING] == [4, 1, 1]
    assert found["quantization"]["int8"]["finetune"]["warmup"] == 300
    assert found["quantization"]["log4"]["finetune"]["warmup"] == 32_000
    assert check(found, "x.yaml", zoo) == found


@pytest.mark.parametrize(
    ("training", "keys"),
    [
        ({"updates": 150, "warmup": 149, "validate_every": 150}, []),
        ({"updates": 150, "warmup": 0, "validate_every": 1}, []),
        ({"updates": 150, "warmup": 150, "validate_every": 150}, ["warmup"]),
        ({"updates": 150, "warmup": 15, "validate_every": 151}, ["validate_every"]),
        ({"updates": 1, "warmup": 0, "validate_every": 2}, ["validate_every"]),
    ],
)
def test_bounds(training, keys):
    """The check accepts the line that it proposes."""
    found = list(training_faults(("training",), training))
    assert [fault.path[-1] for fault in found] == keys
    for fault in found:
        key, value = fault.message.split("write '")[1].split("'")[0].split(": ")
        assert not list(training_faults(("t",), {**training, key: int(value)}))


def test_a_model_that_is_there_is_not_trained(experiment, zoo):
    foreign = {"hugging_face": "folder", "training": SHORT}
    assert check(experiment({"teacher": foreign}, ["teacher.architecture"]), "x.yaml", zoo)


def test_recipes_leave_time_for_a_validation(faults):
    """Phases before the reset of a group lasso do not count."""
    lasso = {"method": "group-lasso", "reset_to": 100, "regularise_updates": 50}
    changes = {
        "training": {"updates": 200, "warmup": 20, "validate_every": 60},
        "pruning": {
            "pushy": {"reset_to": 150},
            "lasso": lasso,
            "again": {**lasso, "reset": True},
            "fits": {**lasso, "regularise_updates": 40},
        },
    }
    assert faults(changes, []) == [
        "pruning.pushy.reset_to: found 150, which leaves 50 of training.updates 200 for the last training, expected "
        "at least training.validate_every 60, or it is never validated: lower reset_to, or write 'validate_every: 5' "
        "in training",
        "pruning.lasso.regularise_updates: found 50, which leaves 50 of training.updates 200 for the last training, "
        "expected at least training.validate_every 60, or it is never validated: lower regularise_updates, or write "
        "'validate_every: 5' in training",
    ]


def test_updates_that_a_reset_undoes_end_with_a_linear_decay(faults, experiment, zoo):
    """Later updates would have a learning rate below 0."""
    changes = {
        "training": {"updates": 200, "warmup": 20, "validate_every": 50, "decay": "linear"},
        "pruning": {
            "pushy": {"reset_to": 100, "iteration_updates": 101},
            "fits": {
                "method": "late-reset",
                "reset_to": 100,
                "iteration_updates": 100,
                "iterations": 1,
            },
            "again": {
                "method": "group-lasso",
                "reset_to": 50,
                "regularise_updates": 160,
                "reset": True,
            },
        },
    }
    told = "expected together at most training.updates 200, where a linear decay ends"
    assert faults(changes, []) == [
        f"pruning.pushy.iteration_updates: found 101 after reset_to 100, {told}",
        f"pruning.again.regularise_updates: found 160 after reset_to 50, {told}",
    ]
    changes["training"]["decay"] = "inverse-sqrt"
    assert check(experiment(changes), "x.yaml", zoo)


def test_finetunings_may_end_within_their_warmup_as_the_papers_do(experiment, faults, zoo):
    changes = {
        "quantization": {
            "int8": {"finetune": {"updates": 1600}},
            "log4": {"finetune": {"updates": 100, "warmup": 32000, "validate_every": 101}},
        }
    }
    assert faults(changes, []) == [
        "quantization.log4.finetune.warmup: found 32000 of 100 updates "
        "(quantization.log4.finetune.updates), expected at most 1000, or the learning rate stays below a tenth of "
        "its peak and little is learnt: write 'warmup: 10', a tenth of the updates",
        "quantization.log4.finetune.validate_every: found 101 of 100 updates (quantization.log4.finetune.updates), "
        "expected at most these, or nothing is ever validated: write 'validate_every: 10' for 10 validations",
    ]
    # `validate_every` of `training` applies, and the last update is kept.
    changes["quantization"]["log4"] = {"finetune": {"updates": 100, "warmup": 1000}}
    assert check(experiment(changes), "x.yaml", zoo)


def test_metrics_encoders_and_translators():
    encoder = ["encoders", "small"]
    config = with_key(with_key(METRIC, [*encoder, "updates"], 500), [*encoder, "warmup"], 500)
    [line] = refused(config)
    assert line.startswith("encoders.small.warmup: found 500 of 500 updates (")
    pairs = ["distillation", "pairs", "en-de"]
    trained = {"by": "training", "architecture": "demo.micro", "training": SHORT}
    config = with_key(METRIC, [*pairs, "translations", "direct"], trained)
    config = with_key(config, [*pairs, "translators"], {"rows": 100, "validation": 10})
    assert refused(config) == both("distillation.pairs.en-de.translations.direct.training")


def test_generators():
    config = read_yaml("config/generation-small.yaml")
    for place in (["models", "bart"], ["steps", "pruned"]):
        [line] = refused(with_key(config, [*place, "training"], {"updates": 400, "warmup": 500}))
        assert line.startswith(f"{'.'.join(place)}.training.warmup: found 500 of 400 updates (")
        assert "write 'warmup: 40'" in line
