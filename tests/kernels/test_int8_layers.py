"""Products and rows of int8 layers, compared with 64-bit integer arithmetic, for every engine of this machine."""

import threading

import pytest
import torch
from torch import nn

from tests.runtime.conftest import ISAS
from weebill.kernels.extension import fastest
from weebill.kernels.int8_layers import (
    ROWS_OF_A_THREAD,
    Int4Weight,
    Int8Embedding,
    Int8Linear,
    Int8Weight,
    by_threads,
)

GROUP = 32  # inputs that share a step
ENGINES = [*ISAS, "portable"]
# Rows, inputs, outputs: one to five tiles of rows, and panels of one to four tiles; the last shapes have several
# blocks of weights, which are prefetched only for many rows (matrix_product.h).
SHAPES = [
    (1, 7, 16),
    (3, 24, 40),
    (9, 64, 65),
    (17, 100, 200),
    (16, 130, 128),
    (32, 64, 112),
    (33, 300, 96),
    (64, 64, 16),
    (70, 70, 48),
    (33, 1000, 330),
    (70, 2000, 200),
]


def random_weight(outputs, inputs, isa):
    codes = torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8)
    codes[0], codes[-1] = 127, -127  # sums at their largest
    scale = torch.rand(outputs) * 100 + 1
    return codes, scale, Int8Weight(codes, scale, isa)


def exact_product(x, codes, scale, bias, activation_scale):
    """Return the codes of inputs, their products as 64-bit integers, and a float64 factor for each number."""
    if activation_scale is None:
        largest = x.abs().amax(1, keepdim=True)
        own = torch.where(largest > 0, 127 / largest, torch.ones_like(largest))
    else:
        own = torch.tensor(activation_scale)
    inputs = (x * own).round().clamp(-127, 127).long()
    return (inputs @ codes.long().t()).double() / (scale.double() * own.double()) + bias.double()


@pytest.mark.parametrize("isa", ENGINES)
@pytest.mark.parametrize("activation_scale", [None, 20.0])
@pytest.mark.parametrize(("rows", "inputs", "outputs"), SHAPES)
def test_products_are_those_of_integers(isa, activation_scale, rows, inputs, outputs):
    torch.manual_seed(rows)
    codes, scale, weight = random_weight(outputs, inputs, isa)
    bias = torch.randn(outputs)
    x = torch.randn(rows, inputs) * 5
    x[-1] = 0  # no magnitude for division
    layer = Int8Linear(weight, nn.Parameter(bias), activation_scale)
    expected = exact_product(x, codes, scale, bias, activation_scale)
    found = layer(x[None])[0].double()
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-4)
    bare = Int8Linear(weight, None, activation_scale)(x).double()
    assert torch.allclose(bare, expected - bias, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("isa", ENGINES)
@pytest.mark.parametrize(("rows", "inputs", "outputs"), SHAPES)
def test_products_of_four_bits_are_those_of_groups(isa, rows, inputs, outputs):
    torch.manual_seed(rows)
    groups = -(-inputs // GROUP)
    codes = torch.randint(-8, 8, (outputs, groups * GROUP), dtype=torch.int8)
    codes[0], codes[-1] = 7, -8  # sums at their largest
    codes[:, inputs:] = 0
    steps = (torch.rand(outputs, groups) + 0.1).bfloat16()
    weight = Int4Weight(codes, steps, inputs, isa)
    x, bias = torch.randn(rows, inputs), torch.randn(outputs)
    x[0] = 5.0  # all codes 127
    own = 127 / x.abs().amax(1, keepdim=True)
    sums = (x * own).round().clamp(-127, 127).double()
    numbers = codes[:, :inputs].double() * steps.double().repeat_interleave(GROUP, 1)[:, :inputs]
    expected = sums @ numbers.t() / own.double() + bias.double()
    found = Int8Linear(weight, nn.Parameter(bias), None)(x[None])[0].double()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-4)
    assert torch.equal(weight.rows(torch.arange(outputs)).double(), numbers)
    assert weight.bytes == outputs * groups * 18
    with pytest.raises(ValueError, match="inputs"):
        Int4Weight(codes, steps, inputs + GROUP, isa)


@pytest.mark.parametrize("isa", ENGINES)
def test_rows_are_codes_over_scales(isa):
    torch.manual_seed(1)
    codes, scale, weight = random_weight(70, 20, isa)
    indices = torch.tensor([[0, 69, 5], [64, 63, 0]])
    expected = codes.float()[indices] / scale[indices][..., None]
    torch.testing.assert_close(Int8Embedding(weight)(indices), expected)
    torch.testing.assert_close(Int8Embedding(weight, 4.0)(indices), expected * 4)


@pytest.mark.parametrize("isa", ENGINES)
def test_a_row_that_is_not_there_is_refused(isa):
    with pytest.raises(IndexError):
        random_weight(20, 16, isa)[2].rows(torch.tensor([20]))


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [(0, 1), (2 * ROWS_OF_A_THREAD - 1, 1), (2 * ROWS_OF_A_THREAD, 2), (5 * ROWS_OF_A_THREAD, 3)],
)
def test_rows_enough_are_divided(three_threads, rows, parts):
    heights, together = [], threading.Barrier(parts, timeout=10)

    def double(x):
        together.wait()  # otherwise, parts would run one after another
        heights.append(len(x))
        return 2 * x

    x = torch.arange(rows * 3.0).view(rows, 3)
    assert torch.equal(by_threads(double, x), 2 * x)
    assert len(heights) == parts and sum(heights) == rows


def test_kernels_compute_the_same_side_by_side(three_threads):
    torch.manual_seed(1)
    codes = torch.randint(-127, 128, (40, 24), dtype=torch.int8)
    weight, x = Int8Weight(codes, torch.ones(40), fastest()), torch.randn(400, 24)
    found = weight.multiply(x, None, None)
    assert torch.equal(found, torch.cat([weight.multiply(one[None], None, None) for one in x]))
