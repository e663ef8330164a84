"""The GPU's kernel of the logarithmic grid's scale, run by Triton's interpreter, compared with the CPU's loop."""

import os
import subprocess
import sys

import pytest
import torch

from weebill.quantization.grids import grid_named


@pytest.fixture
def log4_scale(interpreted):
    return interpreted("weebill.quantization.log4_kernel").log4_scale


@pytest.mark.parametrize("shape", [(1,), (2,), (7, 5), (64, 33)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_equals_the_loop_on_the_cpu(log4_scale, shape, dtype):
    torch.manual_seed(1)
    for x in (torch.randn(shape), torch.rand(shape) - 0.5, torch.randn(shape).pow(3)):
        expected = grid_named("log4").fit(x.to(dtype))
        found = log4_scale(x.to(dtype))
        assert found.dtype == torch.float32 and found.shape == ()
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=0.0)


COMPILE = """
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
from weebill.quantization.log4_kernel import BORDERS, _fit

types = {"magnitudes": "*fp32", "prefix": "*fp64", "powers": "*fp64", "scale": "*fp32", "count": "i32"}
source = ASTSource(_fit, {**types, "LANES": "constexpr"}, {"LANES": BORDERS + 1})
for capability in (80, 90):
    assert compile(source, target=GPUTarget("cuda", capability, 32)).asm["cubin"]
"""


def test_it_compiles_for_cards(interpreted):
    """Numbers in float64 are unusual in a kernel; the compiler needs no card."""
    plain = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", COMPILE], env=plain, check=True)


def test_zeros_have_the_scale_zero(log4_scale):
    assert float(log4_scale(torch.zeros(3, 4))) == 0.0


def test_equal_numbers_are_the_largest_of_the_grid(log4_scale):
    assert float(log4_scale(torch.full((5,), -0.25))) == 0.25


@pytest.mark.gpu
@pytest.mark.parametrize("count", [1, 1000, 1 << 20])
def test_a_card_fits_the_scale_of_the_cpu_without_a_wait(count):
    x = torch.randn(count, device="cuda")
    grid = grid_named("log4")
    grid.fit(x)  # compiles
    torch.cuda.set_sync_debug_mode("error")
    try:
        found = grid.fit(x)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.testing.assert_close(found.cpu(), grid.fit(x.cpu()), rtol=1e-5, atol=0.0)
