"""Attention of single queries, compared with its formula, and a growing cache, compared with the library's."""

import pytest
import torch
from transformers.cache_utils import DynamicLayer

from tests.generation.test_int8 import generated
from tests.hugging_face import small
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.int8_decoding import ROOM, GrowingLayer
from weebill.hugging_face.families import prunable
from weebill.kernels.extension import available, extension
from weebill.kernels.int8_layers import Int8Linear


def attention(query, keys, values, mask, scale):
    """Return softmax(scale · q·k) · v in float64, by loops over sentences and heads; zeros if all keys are masked."""
    out = torch.zeros(query.shape[0], 1, query.shape[1], query.shape[3])
    for b in range(query.shape[0]):
        seen = mask[b % len(mask)] if mask is not None else torch.ones(keys.shape[2]).bool()
        for h in range(query.shape[1]) if seen.any() else ():
            scores = keys[b, h][seen].double() @ query[b, h, 0].double() * scale
            out[b, 0, h] = (scores.softmax(0) @ values[b, h][seen].double()).float()
    return out


@pytest.mark.parametrize("isa", available())
@pytest.mark.parametrize(("heads", "size", "positions"), [(1, 16, 1), (3, 64, 40), (2, 80, 17)])
@pytest.mark.parametrize("masked", [None, 1, 3])
def test_attention_of_one_query(isa, heads, size, positions, masked):
    torch.manual_seed(positions)
    fused = torch.randn(3, positions + 5, 2 * heads * size)  # keys, values and unused space
    keys, values = (
        part.view(3, positions + 5, heads, size).transpose(1, 2)[:, :, :positions]
        for part in fused.chunk(2, dim=2)
    )
    query = torch.randn(3, 1, heads, size).transpose(1, 2)
    mask = None
    if masked:
        mask = torch.rand(masked, positions) < 0.6
        mask[0] = False  # a sentence of padding only
    found = torch.from_numpy(extension(isa).attend(query, keys, values, mask, 0.2))
    torch.testing.assert_close(found, attention(query, keys, values, mask, 0.2))


def test_a_cache_grows_as_the_librarys_does():
    torch.manual_seed(1)
    ours, theirs = GrowingLayer(), DynamicLayer()
    beams = torch.tensor([1, 1, 0])
    for count in (5, 1, 1, ROOM, 1, 300, 1):
        new = torch.randn(3, 2, count, 4), torch.randn(3, 2, count, 4)
        for found, expected in zip(ours.update(*new), theirs.update(*new), strict=True):
            assert torch.equal(found, expected)
        assert ours.get_seq_length() == theirs.get_seq_length()
        if count == ROOM:
            for layer in (ours, theirs):
                layer.reorder_cache(beams)
                layer.crop(-3)
    for layer in (ours, theirs):
        layer.reset()
        assert layer.get_seq_length() == 0
        layer.update(*new)
    assert torch.equal(ours.values, theirs.values)


def test_steps_within_the_room_copy_nothing():
    layer = GrowingLayer()
    layer.update(torch.randn(2, 2, 10, 4), torch.randn(2, 2, 10, 4))
    before = layer.keys.data_ptr()
    for _ in range(ROOM):
        layer.update(torch.randn(2, 2, 1, 4), torch.randn(2, 2, 1, 4))
    assert layer.keys.data_ptr() == before and layer.keys.shape[2] == 10 + ROOM


@pytest.mark.parametrize("family", small.GENERATORS)
def test_the_activation_of_each_feed_forward_is_computed_with_its_map(family, tmp_path):
    model = small.small_model(family)
    save_int8(model, tmp_path / "int8")
    modules = load_int8(tmp_path / "int8", "portable").modules()
    fused = [one for one in modules if isinstance(one, Int8Linear) and one.activation != "none"]
    assert len(fused) == len(prunable(model).feed_forward_blocks())


FAMILIES = (*small.GENERATORS, "llama")


@pytest.mark.parametrize("family", FAMILIES)
def test_heads_that_the_kernel_takes_give_the_same_text(family, tmp_path, monkeypatch):
    """Padded texts are decoded greedily and with beams; instruction sets take turns from family to family."""
    monkeypatch.setattr(small, "WIDTH", 64)
    monkeypatch.setattr(small, "HEAD_SIZE", 16)
    save_int8(small._made.__wrapped__(family, 3), tmp_path / "int8")  # not the cached model
    isa = available()[FAMILIES.index(family) % len(available())]
    compiled, portable = (load_int8(tmp_path / "int8", name) for name in (isa, "portable"))
    assert compiled.config._attn_implementation == f"weebill_{isa}"
    for options in ({}, {"num_beams": 3}):
        texts = [generated(model, family, **options) for model in (compiled, portable)]
        assert texts[0] == texts[1]
