"""Weights of 4 bits, compared with the grid's own numbers, simple rounding, and hand-written bytes."""

import pytest
import torch

from weebill.quantization import int4_groups
from weebill.quantization.int4_groups import GROUP, dequantize, pack, quantize, unpack


def test_numbers_of_the_grid_stay():
    torch.manual_seed(1)
    step = 2.0 ** torch.randint(-6, 3, (5, 3)).float()
    codes = torch.randint(-7, 8, (5, 3, GROUP))
    codes[..., 0] = -8  # fixes the step
    weight = (codes * step[..., None]).flatten(1)
    found, steps = quantize(weight)
    assert torch.equal(dequantize(found, steps, weight.shape[1]), weight)
    assert torch.equal(steps.float().abs(), step)


@pytest.mark.parametrize("inputs", [1, 31, 64, 70])
def test_error_is_no_larger_than_of_the_simplest_rounding(inputs):
    """The simplest rounding maps each group's largest magnitude to 7 or −7."""
    torch.manual_seed(inputs)
    weight = torch.randn(6, inputs) * torch.rand(6, 1)
    weight[2] = 0
    codes, steps = quantize(weight)
    found = dequantize(codes, steps, inputs)
    assert codes.shape == (6, -(-inputs // GROUP) * GROUP)
    assert codes.min() >= -8 and codes.max() <= 7
    for first in range(0, inputs, GROUP):
        for row in range(6):
            group = weight[row, first : first + GROUP]
            step = float((group.abs().max() / 7).bfloat16())
            simple = torch.tensor([round(float(w) / step) * step if step else 0.0 for w in group])
            error = (found[row, first : first + GROUP] - group).square().sum()
            assert error <= (simple - group).square().sum() * (1 + 1e-6)
    assert torch.equal(int4_groups.round_weight(weight), found)
    turned = quantize(weight.t().contiguous().t())
    assert torch.equal(turned[0], codes) and turned[0].is_contiguous()


def test_two_codes_are_a_byte():
    codes = torch.tensor([[-8, 7, 0, -1], [1, 2, 3, 4]], dtype=torch.int8)
    packed = pack(codes)
    assert packed.tolist() == [[0 | 15 << 4, 8 | 7 << 4], [9 | 10 << 4, 11 | 12 << 4]]
    assert torch.equal(unpack(packed), codes)


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="NaN or infinity"):
        quantize(torch.tensor([[1.0, float("inf")]]))
