"""Products of float32 numbers as bytes, compared with float64; without a matrix unit, the same code uses memory."""

import pytest
import torch
from torch.nn import functional

from tests.runtime.conftest import ISAS
from weebill.kernels import split_linear
from weebill.kernels.cpu_matmul import PackedLinear
from weebill.kernels.split_linear import MOST_INPUTS, SplitLinear, inference_linear

pytestmark = pytest.mark.skipif(
    split_linear.ISA not in ISAS, reason="the processor has no AVX-512 with products of bytes"
)

# (rows, inputs, outputs); the last shapes have several tiles in each direction, and several blocks of weights.
SHAPES = [(1, 7, 16), (9, 64, 65), (17, 100, 200), (33, 300, 96), (70, 1000, 330)]


def exact(x, weight, bias):
    return x.double() @ weight.double().t() + bias.double()


def bound(x, weight):
    """Return the error bound for three bytes: a random sum of some units of the last byte of both sides."""
    peaks = x.abs().amax(1, keepdim=True).double() * weight.abs().amax(1).double()
    return peaks * (x.shape[1] ** 0.5 * 6 * 2.0**-24 / 127 * 128) + 1e-30


@pytest.mark.parametrize(("rows", "inputs", "outputs"), SHAPES)
def test_products_are_as_exact_as_float32_s(rows, inputs, outputs):
    torch.manual_seed(rows)
    x, weight = torch.randn(rows, inputs), torch.randn(outputs, inputs)
    bias = torch.randn(outputs)
    x[:, inputs // 2] *= 30  # as in encoders
    x[-1] = 0
    expected = exact(x, weight, bias)
    rounding = expected.abs() * 2.0**-23
    found = SplitLinear(weight, bias)(x)
    assert ((found.double() - expected).abs() <= bound(x, weight) + rounding).all()
    bare = SplitLinear(weight, None)(x[None])[0].double()
    assert ((bare - expected + bias).abs() <= bound(x, weight) + rounding).all()


def test_all_bytes_count():
    """Integers of 23 bits, alone in their rows, have exact products except for float32's rounding."""
    x = torch.diag(torch.tensor([8323072.0, 8323071.0, 65537.0, -129.0, 32768.0, 1.0]))
    x[:, 0] = 8323072  # 127 · 2¹⁶ determines each row's unit
    weight = torch.tensor([[0.0, -8323072.0, 8323072.0, 8323072.0, 8323072.0, 8323072.0]])
    found = SplitLinear(weight, None)(x)
    expected = exact(x, weight, torch.zeros(1))
    assert torch.allclose(found.double(), expected, rtol=2.0**-23, atol=0)


@pytest.mark.parametrize(
    ("name", "activation"), [("relu", functional.relu), ("gelu", functional.gelu)]
)
def test_activations(name, activation):
    torch.manual_seed(1)
    x, weight, bias = torch.randn(5, 40), torch.randn(30, 40), torch.randn(30)
    expected = activation(exact(x, weight, bias))
    found = SplitLinear(weight, bias, name)(x).double()
    assert torch.allclose(found, expected, rtol=1e-6, atol=1e-5)


def test_extremes():
    torch.manual_seed(1)
    weight = torch.randn(20, 50)
    layer = SplitLinear(weight, None)
    x = torch.randn(6, 50)
    x[0, 3], x[1, 49], x[2] = torch.nan, torch.inf, 1e-38
    x[3] *= 1e30
    found = layer(x)
    assert found[:2].isnan().all()
    assert not found[2].any()  # too small for division
    assert torch.allclose(found[3:], x[3:] @ weight.t(), rtol=1e-4)
    assert layer(x[:0]).shape == (0, 20)
    weight[7, 7], weight[8, 49] = torch.nan, -torch.inf
    found = SplitLinear(weight, None)(x[3:])
    assert found[:, 7:9].isnan().all() and found[:, 9:].isfinite().all()


def test_sums_are_held_by_32_bits():
    """The longest rows of the largest bytes fit into sums of 32 bits."""
    x, weight = torch.ones(1, MOST_INPUTS), torch.ones(2, MOST_INPUTS)
    weight[1] = -1
    found = SplitLinear(weight, None)(x)
    assert torch.allclose(found, torch.tensor([[1.0, -1.0]]) * MOST_INPUTS, rtol=1e-6)


def test_what_is_chosen(monkeypatch):
    weight = torch.randn(4, 8)
    for has, kind in ((True, SplitLinear), (False, PackedLinear)):
        monkeypatch.setattr(split_linear, "multiplies_by_bytes", lambda has=has: has)
        assert type(inference_linear(weight, None)) is kind
        assert type(inference_linear(weight.bfloat16(), None)) is PackedLinear
        assert type(inference_linear(weight[:0], None)) is PackedLinear
        assert type(inference_linear(torch.ones(1, MOST_INPUTS + 1), None)) is PackedLinear
