"""The variants of a generation experiment follow from its pipelines, and so do their controls."""

from pathlib import Path

import pytest

from weebill.configuration.checking import check
from weebill.experiment.pipelines import control_of, task_of, variants, variants_of
from weebill.yaml_files import read_yaml

SMALL = read_yaml(Path(__file__).parents[2] / "config/generation-small.yaml")
MODELS, BITS = ("bart", "gpt2"), ("int8", "int4")


def test_variants_are_all_prefixes_once():
    config = check(SMALL, "x.yaml")
    found = variants(config)
    assert len(found) == len(set(found)) == 38
    assert found[:3] == [
        "bart/fine-tuned",
        "bart/fine-tuned/distilled",
        "bart/fine-tuned/distilled/pruned",
    ]
    assert all(name.startswith("gpt2/") for name in variants_of(config, "gpt2"))
    assert task_of(config, "gpt2") == "language-modelling"


@pytest.mark.parametrize("bits", BITS)
def test_rounding_is_measured_with_and_without_training_for_it(bits):
    """TEXTGEN rounds only what was trained for it, so its tables do not say what that training is worth."""
    config = check(SMALL, "x.yaml")
    for model in MODELS:
        found = variants_of(config, model)
        assert f"{model}/fine-tuned/{bits}" in found
        assert any(name.endswith(f"/trained-{bits}/{bits}") for name in found)


def controlled(change, *further):
    """Return the control of bart/tuned/pruned if `change` modifies the step `longer`; further: more pipelines."""
    training = {"updates": 9, "learning_rate": 0.1, "keep": "best"}
    last = {**training, "keep": "last"}
    steps = {
        "tuned": {"method": "fine-tune", "training": {**training, "updates": 5}},
        "pruned": {"method": "movement", "loss": {"preset": "paper"}, "training": training},
        "longer": {"method": "fine-tune", "loss": {"preset": "paper"}, "training": last, **change},
        "int8": {"method": "post-training"},
        "used-pieces": {"method": "prune-vocabulary"},
    }
    paths = [["tuned", "pruned", "int8"], ["tuned", "pruned", "used-pieces"], *further]
    config = {"steps": steps, "pipelines": [{"model": "bart", "steps": path} for path in paths]}
    return {one: control_of(config, one) for one in variants(config)}


def test_a_control_had_the_same_training_after_the_same_model():
    beside = ["tuned", "longer"]
    found = controlled({}, beside)
    assert {one: control for one, control in found.items() if control} == {
        "bart/tuned/pruned": "bart/tuned/longer",
        "bart/tuned/pruned/int8": "bart/tuned/longer",  # a conversion trains nothing
    }
    last = {"updates": 9, "learning_rate": 0.1, "keep": "last"}
    for change in (
        {"training": {**last, "updates": 8}},
        {"training": {**last, "learning_rate": 0.2}},
        {"training": {**last, "keep": "best"}},  # pruning keeps the last weights
        {"loss": None},
        {"low_rank": {"rank": 2}},
        {"method": "quantization-aware"},
    ):
        assert not any(controlled(change, beside).values()), change
    for elsewhere in (["longer"], ["tuned", "pruned", "longer"]):
        assert not any(controlled({}, elsewhere).values()), elsewhere


def test_every_training_of_the_small_experiment_has_a_control():
    config = check(SMALL, "x.yaml")
    further = [one for one in variants(config) if "as-long-as" not in one and one.count("/") > 1]
    converted = {f"{model}/fine-tuned/{bits}" for model in MODELS for bits in BITS}
    trained = [one for one in further if one not in converted]
    assert all(control_of(config, one) for one in trained) and len(trained) == len(further) - 4
    assert not any(
        control_of(config, one) for one in converted
    )  # their baseline is the fine-tuned model
