"""Damaged hyperparameters of COMET models are refused."""

import pytest

from weebill.errors import InputError
from weebill.metric.architecture import Architecture

GOOD = {"class_identifier": "regression_metric"}


@pytest.mark.parametrize("value", [None, 3, [1], ["avg"], {"a": 1}, "other", float("nan")])
@pytest.mark.parametrize(
    "key",
    [
        "class_identifier",
        "pool",
        "layer",
        "layer_transformation",
        "hidden_sizes",
        "activations",
        "final_activation",
    ],
)
def test_whatever_stands_there_is_named(key, value):
    fine = {("layer", 3), ("final_activation", None), ("hidden_sizes", "[1]")}
    if (key, value if not isinstance(value, list | dict) else str(value)) in fine:
        return
    with pytest.raises(InputError, match=f"^hparams.yaml: {key}"):
        Architecture.from_hyperparameters(GOOD | {key: value}, "hparams.yaml")
