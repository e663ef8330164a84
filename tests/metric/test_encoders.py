"""Damaged configurations of the encoders of COMET models are refused."""

import json

import pytest

from tests.metric.small import make_encoder
from weebill.errors import InputError
from weebill.metric.encoders import find_encoder


def test_an_encoder_without_its_pooler(tmp_path):
    folder = make_encoder(tmp_path / "encoder")
    encoder, place = find_encoder("XLM-RoBERTa", str(folder))
    assert place == folder
    assert encoder.pooler is None and encoder.config.hidden_size == 24


@pytest.mark.parametrize("family", ["XLM-RoBERTa", "MiniLM"])
@pytest.mark.parametrize(
    "values",
    [
        {"hidden_size": "abc"},
        {"hidden_size": 25},  # not divisible by the heads
        {"hidden_act": "foo"},
        {"num_attention_heads": 0},
        {"pad_token_id": 999},  # no such piece
        {"vocab_size": -1},
        {"num_hidden_layers": None},
    ],
    ids=lambda values: "-".join(values),
)
def test_values_that_are_damaged(tmp_path, family, values):
    file = make_encoder(tmp_path / "encoder", family) / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))
    with pytest.raises(InputError, match=r"encoder/config\.json: .*fetch it again") as caught:
        find_encoder(family, str(tmp_path / "encoder"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("values", [[], None, "bert", {}, {"model_type": ["bert"]}])
def test_a_configuration_that_is_none(tmp_path, values):
    (tmp_path / "config.json").write_text(json.dumps(values))
    with pytest.raises(
        InputError, match=r"config\.json: .*name the folder of the checkpoint's own"
    ):
        find_encoder("BERT", str(tmp_path))
