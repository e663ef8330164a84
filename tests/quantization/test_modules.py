"""The module swap, compared with explicit products in 64-bit integers and float64."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from tests.quantization.toy_model import TOKENS, WIDTH, WORDS, Toy
from weebill.quantization.grids import GRIDS, grid_named
from weebill.quantization.modules import (
    QuantizedEmbedding,
    QuantizedLinear,
    pack_model,
    quantize_model,
    round_biases,
)
from weebill.quantization.weights import FakeWeight, PackedWeight

SCALES = {"layer": 40.0, "plain": 55.0, "output": 37.5}


def integer_reference(linear: nn.Linear, x, activation_scale: float, rowwise: bool):
    """Return y = (Σ codes · codes) / (scales) + bias, by loops over Python integers and float32 steps."""
    weight, f32 = linear.weight.detach().numpy(), np.float32
    y = np.zeros((len(x), len(weight)), dtype=np.float32)
    for n, row in enumerate(weight):
        scale = f32(127) / np.abs(row if rowwise else weight).max()
        codes = [int(np.clip(np.rint(w * scale), -127, 127)) for w in row]
        step = f32(1) / (f32(activation_scale) * scale)
        for m, vector in enumerate(x.numpy()):
            a = [int(np.clip(np.rint(v * f32(activation_scale)), -127, 127)) for v in vector]
            total = sum(p * q for p, q in zip(a, codes, strict=True))
            y[m, n] = f32(total) * step + f32(0 if linear.bias is None else linear.bias[n].item())
    return torch.from_numpy(y)


@pytest.mark.parametrize("grid", ["int8", "int8_rowwise"])
@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_int8_map_is_the_integer_computation_bit_for_bit(grid, bias):
    torch.manual_seed(4)
    linear = nn.Linear(19, 11, bias=bias)
    x = 3 * torch.randn(6, 19)  # some of it is clipped
    expected = integer_reference(linear, x, 50.0, grid == "int8_rowwise")
    packed = quantize_model(nn.Sequential(copy.deepcopy(linear)), grid, {"0": 50.0})
    assert torch.equal(packed(x), expected)
    assert torch.equal(packed(x.view(2, 3, 19)), expected.view(2, 3, 11))
    assert torch.equal(packed(x[0]), expected[0])
    assert packed(x[:0]).shape == (0, 11)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("scaled", [True, False])
def test_fake_and_packed_are_the_same_function(grid, scaled):
    scales = SCALES if scaled else None
    fake = quantize_model(Toy(), grid, scales, mode="fake").eval()
    packed = quantize_model(Toy(), grid, scales, mode="packed").eval()
    repacked = pack_model(copy.deepcopy(fake)).eval()
    assert torch.equal(packed(TOKENS), repacked(TOKENS))
    assert torch.allclose(fake(TOKENS), packed(TOKENS), rtol=1e-4, atol=1e-5)
    for name in ("layer", "embedding"):
        weights = [getattr(model, name).weight for model in (fake, packed, repacked)]
        assert torch.equal(weights[0], weights[1]) and torch.equal(weights[1], weights[2])


@pytest.mark.parametrize("grid", GRIDS)
def test_quantized_weights_are_near_the_float_ones_and_biases_untouched(grid):
    plain, model = Toy(), quantize_model(Toy(), grid)
    error = (model.layer.weight - plain.layer.weight).abs().max() / plain.layer.weight.abs().max()
    assert 0 < error < (0.004 if grid_named(grid).integer else 0.26)
    assert torch.equal(model.layer.bias, plain.layer.bias)
    assert torch.equal(model.norm.weight, plain.norm.weight)
    assert isinstance(model.layer, QuantizedLinear) and isinstance(model.norm, nn.LayerNorm)
    assert (model.layer.in_features, model.layer.out_features) == (WIDTH, WIDTH)
    assert (model.embedding.num_embeddings, model.embedding.embedding_dim) == (WORDS, WIDTH)


def test_biases_are_rounded_where_that_is_wanted():
    """Biases are rounded to the nearest ±S·2^k, k = −7…0, with S for each bias; other tensors do not change."""
    plain, model = Toy(), Toy()
    round_biases(model, "log4")
    changed = {}
    for (name, before), after in zip(plain.named_parameters(), model.parameters(), strict=True):
        if not name.endswith(".bias"):
            assert torch.equal(before, after), name
        elif before.any():
            changed[name] = (before.detach(), after.detach())
    assert set(changed) >= {"layer.bias", "output.bias"}
    for before, after in changed.values():
        largest = after.abs().max()
        octaves = (after.abs() / largest).log2()
        assert torch.equal(octaves, octaves.round()) and (octaves >= -7).all()
        grid = largest * torch.tensor([sign * 2.0**-k for k in range(8) for sign in (1, -1)])
        nearest = (before[:, None] - grid).abs().min(dim=1).values
        assert torch.allclose((before - after).abs(), nearest, atol=1e-7)


@pytest.mark.parametrize("mode", ["fake", "packed"])
def test_what_is_shared_stays_shared_and_is_stored_once(mode):
    model = quantize_model(Toy(), "int8", mode=mode)
    assert model.again["same"] is model.layer
    assert model.output.quantized is model.embedding.quantized
    kind = FakeWeight if mode == "fake" else PackedWeight
    assert sum(isinstance(module, kind) for module in model.modules()) == 3
    assert not any(name.startswith("output.quantized") for name in model.state_dict())
    clone = copy.deepcopy(model)
    assert clone.output.quantized is clone.embedding.quantized
    assert clone.output.quantized is not model.output.quantized
    if mode == "fake":
        assert sum(p.numel() for p in model.parameters()) == sum(
            p.numel() for p in Toy().parameters()
        )
        packed = pack_model(model)
        assert packed.output.quantized is packed.embedding.quantized


def test_empty_and_skipped_maps_stay_as_they_are():
    model = quantize_model(Toy(), "log4", skip=["pl*n"])
    assert type(model.empty) is nn.Linear and type(model.plain) is nn.Linear
    assert isinstance(model.layer, QuantizedLinear)


def test_a_shared_weight_is_quantized_everywhere_or_nowhere():
    with pytest.raises(ValueError, match=r"output shares its weight with embedding.*skip both"):
        quantize_model(Toy(), "log4", skip=["embedding"])
    model = quantize_model(Toy(), "log4", skip=["embedding", "output"])
    assert model.output.weight is model.embedding.weight


def test_a_subclass_with_its_own_forward_is_left_alone():
    class Doubled(nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    model = quantize_model(nn.Sequential(Doubled(3, 3), nn.Linear(3, 3)), "int8")
    assert type(model[0]) is Doubled and isinstance(model[1], QuantizedLinear)


def test_activation_scales_must_be_those_of_the_model():
    with pytest.raises(ValueError, match="no activation scale for output"):
        quantize_model(Toy(), "int8", {"layer": 1.0, "plain": 1.0})
    with pytest.raises(ValueError, match="scales for laier"):
        quantize_model(Toy(), "int8", {**SCALES, "laier": 1.0})


@pytest.mark.parametrize("grid", GRIDS)
def test_packed_rows_are_rows_of_the_table(grid):
    table = quantize_model(nn.Sequential(nn.Embedding(9, 5)), grid)[0]
    assert isinstance(table, QuantizedEmbedding)
    indices = torch.tensor([[0, 8], [3, 3]])
    assert torch.equal(table(indices), table.weight[indices])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("mode", ["fake", "packed"])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("grid", GRIDS)
def test_a_cast_model_gives_what_the_float32_one_gives(grid, scaled, mode, dtype):
    """With small weights, a grid's scale is 1e5 or more, which is too large for float16."""
    model = Toy().eval()
    with torch.no_grad():
        model.plain.weight *= 1e-4
    model = quantize_model(model, grid, SCALES if scaled else None, mode=mode).eval()
    expected = model(TOKENS)
    found = model.to(dtype).to("cpu")(TOKENS)  # moves keep the cast type
    assert found.dtype == dtype
    assert (found.float() - expected).norm() < 0.02 * expected.norm()
    if mode == "packed":
        part = model.output.quantized.select(torch.tensor([3, 1]))
        assert torch.equal(part(), model.output.weight[[3, 1]]) and part().dtype == dtype


@pytest.mark.parametrize("grid", GRIDS)
def test_casting_a_packed_model_loses_no_code_and_no_scale(grid):
    model = quantize_model(Toy().eval(), grid, SCALES)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    weight = model.embedding.weight.clone()
    model.half().bfloat16().float()
    for name, value in model.state_dict().items():
        if name.endswith(("codes", "scale")):
            assert torch.equal(value, before[name]) and value.dtype == before[name].dtype, name
    assert torch.equal(model.embedding.weight, weight)


def test_gradients_of_a_fake_map_are_those_of_the_rounded_operands():
    torch.manual_seed(5)
    linear, x = nn.Linear(4, 3), torch.randn(7, 4, requires_grad=True)
    layer = quantize_model(nn.Sequential(linear), "int8", {"0": 60.0}, mode="fake")[0]
    upstream = torch.randn(7, 3)
    layer(x).backward(upstream)
    rounded = (x.detach() * 60).round().clamp(-127, 127) / 60
    assert torch.allclose(layer.quantized.master.grad, upstream.t() @ rounded)
    assert torch.allclose(x.grad, upstream @ layer.weight.detach())
    assert torch.allclose(layer.bias.grad, upstream.sum(0))


def test_a_tied_weight_gathers_the_gradients_of_all_its_uses():
    model = quantize_model(Toy(), "int8", mode="fake")
    tokens = torch.tensor([[2]])
    model(tokens).sum().backward()
    grad = model.embedding.quantized.master.grad
    assert torch.all(grad.abs().sum(1) > 0)  # the output layer reaches every row
    others = grad[torch.arange(WORDS) != 2]
    assert torch.allclose(others, others[0].expand_as(others))  # the hidden state
    assert not torch.allclose(grad[2], others[0])  # and the lookup reaches row 2


@pytest.mark.parametrize("write", ["optimizer", "fused", "load", "data", "copy"])
def test_a_changed_master_is_rounded_anew(write):
    layer = quantize_model(nn.Sequential(nn.Linear(6, 6)), "log4", mode="fake")[0]
    master = layer.quantized.master
    before = layer.weight.clone()
    if write in ("optimizer", "fused"):
        layer.weight.sum().backward()
        torch.optim.Adam([master], lr=0.3, fused=write == "fused").step()
    elif write == "load":
        layer.load_state_dict({**layer.state_dict(), "quantized.master": 2 * master.detach() + 1})
    elif write == "data":
        master.data = 2 * master.detach() + 1
    else:
        with torch.no_grad():
            master.mul_(2).add_(1)
    assert not torch.equal(layer.weight, before)
    assert torch.equal(layer.weight, grid_named("log4").round(master))


def test_training_goes_on_after_a_validation_in_inference_mode():
    model = quantize_model(Toy(), "int8", SCALES, mode="fake")
    with torch.inference_mode():
        model(TOKENS)
    model(TOKENS).sum().backward()
    assert model.embedding.quantized.master.grad is not None


def test_bfloat16_autocast_trains():
    model = quantize_model(Toy(), "int8", SCALES, mode="fake")
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(TOKENS).float().square().mean()
    loss.backward()
    assert model.layer.quantized.master.grad.dtype == torch.float32
