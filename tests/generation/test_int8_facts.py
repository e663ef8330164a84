"""Uses of loaded int8 models: copying, counting, saving, pickling, and generating with another cache."""

import copy
import pickle

import pytest
import torch

from tests.generation.test_int8 import cut_model, generated
from tests.generation.test_int8_folder import int8_bytes
from tests.hugging_face.small import GENERATORS, logits, small_batch, small_model
from weebill.errors import InputError
from weebill.generation.int8 import load_int8, save_int8

SOME = (*GENERATORS, "m2m_100", "llama", "qwen2")


@pytest.mark.parametrize("family", SOME)
def test_copies_and_counts(family, tmp_path):
    whole, folder = cut_model(family), tmp_path / "int8"
    save_int8(whole, folder)
    model = load_int8(folder)
    other = copy.deepcopy(model)
    assert torch.equal(logits(other, small_batch(family)), logits(model, small_batch(family)))
    assert generated(other, family) == generated(model, family)
    for one in (model, other):
        assert one.num_parameters() == whole.num_parameters()
        assert one.get_memory_footprint() == int8_bytes(whole) + unstored(whole)
    with torch.no_grad():
        for parameter in other.parameters():  # a copy has its own float32 numbers
            parameter.zero_()
    assert all(p.any() for p in model.parameters() if p.numel())


def unstored(model):
    """Return the bytes of buffers that no file holds."""
    return sum(
        value.nbytes for name, value in model.named_buffers() if name not in model.state_dict()
    )


@pytest.mark.parametrize("family", SOME)
def test_other_caches_give_the_same_text(family, tmp_path):
    """No cache, and one of the library's two, which take turns from family to family."""
    save_int8(small_model(family), tmp_path / "int8")
    model = load_int8(tmp_path / "int8")
    expected = generated(model, family, use_cache=False)
    cache = (None, "static")[SOME.index(family) % 2]
    assert generated(model, family, cache_implementation=cache) == expected


def test_what_is_refused_in_one_line(tmp_path):
    save_int8(small_model("bart"), tmp_path / "int8")
    model = load_int8(tmp_path / "int8")
    model.config.save_pretrained(tmp_path / "config")
    for save in (model.save_pretrained, lambda path: save_int8(model, path)):
        with pytest.raises(InputError, match=r"is int8.*; copy its folder .*/int8$"):
            save(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    for dump in (pickle.dumps, lambda one: torch.save(one, tmp_path / "model.pt")):
        with pytest.raises(InputError, match="cannot be pickled; copy its folder"):
            dump(model)


@pytest.mark.parametrize("family", ["bart", "gpt2"])
def test_changes_of_type_or_place_are_refused_and_others_allowed(family, tmp_path):
    save_int8(small_model(family), tmp_path / "int8")
    model = load_int8(tmp_path / "int8")
    expected = generated(model, family)
    changes = {
        "half": lambda one: one.half(),
        "bfloat16": lambda one: one.bfloat16(),
        "double": lambda one: one.double(),
        "to": lambda one: one.to(torch.float16),
        "meta": lambda one: one.to("meta"),
        "empty": lambda one: one.to_empty(device="meta"),
        "part": lambda one: one.base_model.half(),
    }
    if not torch.cuda.is_available():
        changes["cuda"] = lambda one: one.cuda()
    for change in changes.values():
        with pytest.raises(InputError, match="weights are int8, which compute in float32 on the"):
            change(model)
    for same in (model.float, model.cpu, model.eval, lambda: model.to("cpu", torch.float32)):
        assert same() is model
    model.tie_weights()
    assert generated(model, family) == expected


def test_what_needs_float32_weights_is_refused(tmp_path):
    save_int8(small_model("marian"), tmp_path / "int8")
    model = load_int8(tmp_path / "int8")
    for change in (
        lambda: model.resize_token_embeddings(50),
        lambda: model.resize_decoder_token_embeddings(50),
        lambda: model.model.encoder.resize_token_embeddings(50),
        model.init_weights,
    ):
        with pytest.raises(InputError, match="the weights are int8; change the float32 model"):
            change()
    with pytest.raises(InputError, match="some/name: not written, the model is int8"):
        model.push_to_hub("some/name")
    with pytest.raises(AttributeError, match="an int8 table has no `weight`; its `coded` has a sh"):
        model.get_input_embeddings().weight  # noqa: B018
