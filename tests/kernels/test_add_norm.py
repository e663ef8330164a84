"""The GPU's kernel of sum and layer normalisation, run by Triton's interpreter, compared with float64."""

import pytest
import torch
from torch.nn import functional


@pytest.mark.gpu
def test_equals_float64_on_the_card():
    from weebill.kernels.add_norm import add_norm

    for shape in ((1000, 1024), (77, 384), (3, 2560), (5, 24)):
        for dtype in (torch.bfloat16, torch.float32):
            check(add_norm, shape, dtype, "cuda")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(5, 24), (3, 64), (0, 8)])
def test_equals_float64(interpreted, shape, dtype):
    check(interpreted("weebill.kernels.add_norm").add_norm, shape, dtype, "cpu")


def check(add_norm, shape, dtype, device):
    torch.manual_seed(1)
    width = shape[1]
    updates = torch.randn(shape, device=device).to(dtype)
    states = 3 * torch.randn(shape, device=device) + 1
    weight, bias = torch.randn(width, device=device), torch.randn(width, device=device)
    normed, rounded = add_norm(updates, states, weight, bias, 1e-5)
    exact = functional.layer_norm(
        updates.double() + states.double(), (width,), weight.double(), bias.double(), 1e-5
    )
    assert normed.dtype == torch.float32 and rounded.dtype == dtype
    torch.testing.assert_close(normed.double(), exact, atol=5e-6, rtol=1e-5)
    # The interpreter truncates where a GPU rounds.
    tolerance = 0 if device == "cuda" else 2**-7
    torch.testing.assert_close(rounded, normed.to(dtype), atol=0, rtol=tolerance)
