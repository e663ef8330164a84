"""Marian's models, which differ from BART in computed positions and in the class of attention."""

import pytest
import torch
from transformers import MarianConfig, MarianMTModel

from tests.hugging_face.small import HEADS, NEURONS, PAD, PIECES, WIDTH, logits, small_batch
from tests.pruning.masking import masked
from weebill.generation.distillation import student_of
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.quantizable import weights_on_grid
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.pruning.cut import cut, layer_shapes


@pytest.fixture
def model() -> MarianMTModel:
    sides = {
        f"{side}_{key}": value
        for side in ("encoder", "decoder")
        for key, value in (("layers", 2), ("attention_heads", HEADS), ("ffn_dim", NEURONS))
    }
    config = MarianConfig(
        vocab_size=PIECES,
        d_model=WIDTH,
        max_position_embeddings=32,
        pad_token_id=PAD,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=PAD,
        forced_eos_token_id=None,
        scale_embedding=True,
        **sides,
    )
    torch.manual_seed(3)
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


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


def cut_all_kinds(model: MarianMTModel) -> tuple[dict, dict]:
    """Cut some heads of each block and all of one block, and likewise neurons."""
    view = prunable(model)
    heads = {block.name: [1, 3] for block in view.attention_blocks()}
    heads["decoder.0.self_attention"] = heads["encoder.1.self_attention"] = range(HEADS)
    neurons = {block.name: [0, 5] for block in view.feed_forward_blocks()}
    neurons["decoder.1.feed_forward"] = range(NEURONS)
    return heads, neurons


def test_a_cut_model_is_the_masked_one_and_comes_back(model, tmp_path):
    batch = small_batch("bart")
    heads, neurons = cut_all_kinds(model)
    with masked(prunable(model), heads, neurons):
        expected = logits(model, batch)
    cut(prunable(model), heads, neurons)
    torch.testing.assert_close(logits(model, batch), expected, rtol=0, atol=1e-5)
    save_model(tmp_path / "model", model)
    loaded = load_model(tmp_path / "model")
    assert torch.equal(logits(loaded, batch), logits(model, batch))
    assert layer_shapes(prunable(loaded)) == layer_shapes(prunable(model))
    prompt = batch["input_ids"][:, :3]
    texts = [
        each.generate(prompt, max_new_tokens=8, use_cache=cache).tolist()
        for each, cache in ((model, False), (loaded, True))
    ]
    assert texts[0] == texts[1]


def test_a_student_has_fewer_layers(model):
    student = student_of(model, {"encoder": [0, 1], "decoder": [1]})
    assert (student.config.encoder_layers, student.config.decoder_layers) == (2, 1)
    assert torch.equal(
        student.model.decoder.layers[0].fc1.weight, model.model.decoder.layers[1].fc1.weight
    )


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
