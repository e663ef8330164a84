"""Marian's models, which differ from BART in computed positions and in the class of attention."""

import pytest
import torch
from transformers import MarianMTModel

from tests.hugging_face.small import logits, small_batch, small_model
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.quantizable import weights_on_grid
from weebill.hugging_face.folder import load_model, save_model


@pytest.fixture
def model() -> MarianMTModel:
    return small_model("marian")


def test_weights_of_fewer_bits_are_read_as_float32_and_positions_are_computed_so(model, tmp_path):
    positions = model.model.encoder.embed_positions.weight.clone()
    model.bfloat16()
    model.save_pretrained(tmp_path / "foreign")
    save_model(tmp_path / "own", model)
    for name in ("foreign", "own"):
        loaded = load_model(tmp_path / name)
        assert {value.dtype for value in loaded.state_dict().values()} == {torch.float32}
        assert torch.equal(loaded.model.encoder.embed_positions.weight, positions), name
        assert torch.equal(loaded.lm_head.weight, model.lm_head.weight.float())


def test_int8_leaves_computed_positions_alone(model, tmp_path):
    batch = small_batch("bart")
    positions = model.model.encoder.embed_positions.weight.clone()
    with weights_on_grid(model):
        seen = logits(model, batch)
    assert torch.equal(model.model.encoder.embed_positions.weight, positions)
    torch.testing.assert_close(logits(model, batch), seen, rtol=1e-4, atol=1e-4)
    save_int8(model, tmp_path / "int8")
    found = logits(load_int8(tmp_path / "int8", isa="portable"), batch)
    assert (found - seen).abs().mean() < 0.05 * seen.std()
