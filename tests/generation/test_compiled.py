"""Text by the compiled decoder against transformers' `generate` over the same int8 layers."""

import pytest
import torch

from tests.generation.test_int8 import cut_model
from tests.hugging_face import small
from weebill.errors import InputError
from weebill.generation.compiled import CompiledGenerator
from weebill.generation.int8 import load_int8, save_int8
from weebill.kernels.extension import available

SEARCHES = {
    "greedy": {},
    "beams": {"num_beams": 3},
    "all beams": {"num_beams": 3, "num_return_sequences": 3, "length_penalty": 2.0},
    "short beams": {"num_beams": 4, "length_penalty": -1.0, "early_stopping": True},
    "patient beams": {"num_beams": 2, "early_stopping": "never"},
    "spans": {"no_repeat_ngram_size": 2},
    "spans of beams": {"num_beams": 3, "no_repeat_ngram_size": 3},
    "long": {"min_new_tokens": 8, "num_beams": 2},
    "longer": {"min_length": 11},
    "forced": {"forced_bos_token_id": 7, "forced_eos_token_id": 2, "num_beams": 2},
    "suppressed": {"suppress_tokens": list(range(20, 40))},
    "several ends": {"eos_token_id": [2, 7, 9], "num_beams": 3},
    "several ends, late": {"eos_token_id": [2, 7], "min_new_tokens": 5, "num_beams": 2},
    "no end": {"eos_token_id": None, "num_beams": 2},
    "several forced ends": {"forced_eos_token_id": [2, 7], "num_beams": 2},
}


def batch_of(family, texts=5):
    """Return ids and mask of random texts with padding, on the side that the family has it."""
    draw = torch.Generator().manual_seed(3)
    ids = torch.randint(3, small.PIECES, (texts, 9), generator=draw)
    mask = (torch.arange(9) < torch.randint(3, 10, (texts, 1), generator=draw)).long()
    ids = ids.where(mask.bool(), small.PAD)
    return (
        {"input_ids": ids.flip(1), "attention_mask": mask.flip(1)}
        if family in small.DECODERS
        else {
            "input_ids": ids,
            "attention_mask": mask,
        }
    )


def livelier(model):
    """Return the model with outputs that differ more, so that texts end at different lengths and do not loop."""
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(4)
        model.get_output_embeddings().weight[2] *= 1.5
    return model


@pytest.fixture(
    scope="module",
    params=[
        *((family, make) for family in small.GENERATORS for make in (small.small_model, cut_model)),
        *(
            (family, small.small_model)
            for family in ("mbart", "marian", "mt5", "wide-opt", "mistral", "qwen3")
        ),
    ],
    ids=lambda param: f"{param[0]}-{param[1].__name__}",
)
def folder(request, tmp_path_factory):
    family, make = request.param
    place = tmp_path_factory.mktemp("model")
    save_int8(livelier(make(family)), place / "int8")
    return family, place / "int8"


@pytest.mark.parametrize("isa", available())
@pytest.mark.parametrize("search", SEARCHES)
def test_writes_what_the_library_writes(folder, isa, search):
    family, place = folder
    model = load_int8(place, isa)
    options = {"do_sample": False, "max_new_tokens": 14, **SEARCHES[search]}
    expected = model.generate(**batch_of(family), **options)
    found = CompiledGenerator(model).generate(**batch_of(family), **options)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("isa", available())
@pytest.mark.parametrize("family", ["bart", "gpt2", "llama"])
def test_writes_with_weights_of_four_bits(family, isa, tmp_path):
    save_int8(livelier(small.small_model(family)), tmp_path / "int4", bits=4)
    model = load_int8(tmp_path / "int4", isa)
    for search in ("greedy", "beams"):
        options = {"do_sample": False, "max_new_tokens": 14, **SEARCHES[search]}
        expected = model.generate(**batch_of(family), **options)
        found = CompiledGenerator(model).generate(**batch_of(family), **options)
        assert found.tolist() == expected.tolist()


def test_draws_what_the_library_draws(folder):
    family, place = folder
    model = load_int8(place)
    one = {name: value[:1] for name, value in batch_of(family).items()}
    for options in ({}, {"temperature": 0.7, "top_k": 0}, {"top_k": 9, "top_p": 0.8}):
        options |= {"do_sample": True, "max_new_tokens": 14}
        torch.manual_seed(11)
        expected = model.generate(**one, **options)
        found = CompiledGenerator(model).generate(**one, **options, seed=11)
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("options", [{}, {"num_beams": 2}, {"do_sample": True}], ids=str)
def test_a_text_depends_on_no_other_and_on_no_thread(options, folder, monkeypatch):
    family, place = folder
    generator, batch = CompiledGenerator(load_int8(place)), batch_of(family)
    options = {"max_new_tokens": 10, "eos_token_id": None, "do_sample": False, **options}
    together = generator.generate(**batch, **options, seed=20).tolist()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert generator.generate(**batch, **options, seed=20).tolist() == together
    for i, expected in enumerate(together):
        one = {name: value[i : i + 1] for name, value in batch.items()}
        assert generator.generate(**one, **options, seed=20 + i).tolist() == [expected]


def test_draws_follow_the_probabilities(tmp_path):
    save_int8(livelier(small.small_model("gpt2")), tmp_path / "int8")
    model, ids = load_int8(tmp_path / "int8"), torch.tensor([[5, 9, 12]])
    options = {"do_sample": True, "top_k": 0, "max_new_tokens": 1, "num_return_sequences": 4000}
    drawn = CompiledGenerator(model).generate(ids, **options)[:, -1]
    with torch.inference_mode():
        expected = model(ids).logits[0, -1].softmax(0)
    shares = drawn.bincount(minlength=small.PIECES) / len(drawn)
    assert (shares - expected).abs().max() < 0.03  # four standard deviations


def test_what_it_has_not_is_named(tmp_path):
    save_int8(small.small_model("gpt2"), tmp_path / "int8")
    generator, ids = CompiledGenerator(load_int8(tmp_path / "int8")), torch.tensor([[5, 9, 12]])
    for options, message in (
        (
            {"repetition_penalty": 1.2, "top": 3},
            r"no `repetition_penalty`, `top`; leave it out, or",
        ),
        ({"decoder_input_ids": torch.tensor([[1, 5]])}, "no `decoder_input_ids`; leave it out, or"),
        ({"decoder_start_token_id": [5]}, "no `decoder_start_token_id`; leave it out, or"),
        ({"do_sample": True, "num_beams": 2}, "draws no beams"),
        ({"num_return_sequences": 2}, "2 texts of 1 beams"),
        ({"max_length": 3}, "max_length: 3, but the prompt has 3 tokens"),
        ({"max_new_tokens": 31}, "texts of 33 tokens, but the model has 32 positions"),
        ({"attention_mask": torch.tensor([[0, 0, 0]])}, "text 1 is empty"),
    ):
        with pytest.raises(InputError, match=message):
            generator.generate(ids, **options)
