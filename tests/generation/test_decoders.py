"""Logits of compiled decoders, compared with those of transformers' modules over the same int8 layers."""

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from tests.generation.test_int8 import cut_model
from tests.hugging_face import small
from weebill.errors import InputError
from weebill.generation.decoders import describe
from weebill.generation.int8 import load_int8, save_int8
from weebill.kernels.decoder import CompiledDecoder
from weebill.kernels.extension import available

LLAMAS = ("llama", "mistral", "qwen2", "qwen3")
FAMILIES = (*small.GENERATORS, "mbart", "m2m_100", "pegasus", "marian", "mt5", "wide-opt", *LLAMAS)


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_gives_the_logits_of_the_modules(family, tmp_path):
    """Models are cut, but have whole layers too; instruction sets take turns from family to family."""
    save_int8(cut_model(family), tmp_path / "int8")
    isa = available()[FAMILIES.index(family) % len(available())]
    model = load_int8(tmp_path / "int8", isa)
    draw = torch.Generator().manual_seed(2)
    texts = [torch.randint(3, small.PIECES, (n,), generator=draw) for n in (5, 30, 12)]
    writing = CompiledDecoder(describe(model)).write(3, 0)
    given = {}
    if model.config.is_encoder_decoder:
        sources = [torch.randint(3, small.PIECES, (n,), generator=draw) for n in (7, 3, 20)]
        states = [model.get_encoder()(input_ids=one[None]).last_hidden_state for one in sources]
        writing.read(torch.cat(states, 1)[0], [len(one) for one in sources])
        given = [{"encoder_outputs": (one,)} for one in states]

    def expected(row, length):
        if not given:
            return model(texts[row][None, :length]).logits[0, -1]
        ids = texts[row][None, :length]
        return model(decoder_input_ids=ids, **given[row]).logits[0, -1]

    differing = set()

    def compare(logits, row, length):
        error = (logits - expected(row, length)).abs().max()
        if error > 1e-3:
            differing.add(row)
        assert error < 0.1

    starts = [4, 1, 11]  # the prompts; then one token each; then the rest of two rows
    found = writing.add(torch.cat([t[:n] for t, n in zip(texts, starts, strict=True)]), starts)
    for row in range(3):
        compare(found[row], row, starts[row])
    found = writing.add(torch.stack([t[n] for t, n in zip(texts, starts, strict=True)]), [1, 1, 1])
    for row in range(3):
        compare(found[row], row, starts[row] + 1)
    writing.select(torch.tensor([1, 1]))
    found = writing.add(torch.cat([texts[1][2:], texts[1][2:9]]), [28, 7])
    compare(found[0], 1, 30)
    compare(found[1], 1, 9)
    # One of thousands of activations may be so near the middle of two int8 numbers that both are right.
    assert len(differing) <= 1


ROTARY = {
    "linear": {"factor": 4.0},
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 8},
    "dynamic": {"factor": 2.0},
}


@pytest.mark.parametrize("kind", ROTARY)
@torch.inference_mode()
def test_scaled_rotary_positions(kind, tmp_path):
    """Changed angles lengthen the context; angles that depend on the text are refused."""
    torch.manual_seed(6)
    scaled = {"rope_type": kind, "rope_theta": 100.0, **ROTARY[kind]}
    save_int8(small.grouped("Llama", rope_parameters=scaled), tmp_path / "int8")
    model, text = load_int8(tmp_path / "int8"), torch.randint(3, small.PIECES, (30,))
    if kind == "dynamic":
        with pytest.raises(InputError, match=r"rotary positions \(dynamic\) change with a text's"):
            describe(model)
        return
    found = CompiledDecoder(describe(model)).write(1, 0).add(text, [30])
    torch.testing.assert_close(found, model(text[None]).logits[:, -1], rtol=1e-3, atol=3e-4)


def test_what_it_cannot_run_is_named(tmp_path):
    save_int8(small.grouped("Llama", sliding_window=4), tmp_path / "window")
    with pytest.raises(InputError, match="its layers ignore the sliding_window"):
        describe(load_int8(tmp_path / "window"))
    sizes = {"vocab_size": 20, "n_embd": 16, "n_head": 2, "n_layer": 1, "n_positions": 8}
    tanh = GPT2LMHeadModel(GPT2Config(activation_function="tanh", **sizes))
    save_int8(tanh, tmp_path / "tanh")
    with pytest.raises(InputError, match=r"its activation is Tanh.*use its `generate`"):
        describe(load_int8(tmp_path / "tanh"))
    with pytest.raises(InputError, match="load the model for one"):
        save_int8(small.small_model("gpt2"), tmp_path / "portable")
        CompiledDecoder(describe(load_int8(tmp_path / "portable", "portable")))
