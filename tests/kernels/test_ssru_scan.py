"""The GPU's kernels of the SSRU's recurrence, run by Triton's interpreter, compared with loops on the CPU."""

import pytest
import torch

from weebill.translation.model.layers import SSRU


@pytest.fixture
def ssru_scan(interpreted):
    return interpreted("weebill.kernels.ssru_scan").ssru_scan


@pytest.mark.parametrize(
    ("shape", "dtype", "tolerance"),
    [
        ((3, 7, 70), torch.float32, 1e-5),  # the last program is not full
        ((2, 1, 64), torch.float32, 1e-5),
        ((2, 9, 16), torch.bfloat16, 2e-2),
        ((0, 4, 8), torch.float32, 0.0),
    ],
)
def test_equals_a_loop_in_float64_with_gradients(ssru_scan, shape, dtype, tolerance):
    torch.manual_seed(1)
    operands = [torch.randn(shape).to(dtype).requires_grad_() for _ in range(2)]
    exact = [value.detach().double().requires_grad_() for value in operands]
    weights = torch.randn(shape, dtype=torch.float64)
    cell, expected = torch.zeros(shape[0], shape[2], dtype=torch.float64), []
    for position in range(shape[1]):
        forget = torch.sigmoid(exact[0][:, position])
        cell = forget * cell + (1 - forget) * exact[1][:, position]
        expected.append(cell.clamp(min=0))
    expected = torch.stack(expected, 1)
    (expected * weights).sum().backward()

    found = ssru_scan(*operands)
    (found * weights.to(dtype)).sum().backward()
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)
    for one, oracle in zip(operands, exact, strict=True):
        torch.testing.assert_close(one.grad.double(), oracle.grad, rtol=tolerance, atol=tolerance)


def test_takes_operands_that_are_not_contiguous(ssru_scan):
    torch.manual_seed(2)
    both = torch.randn(2, 5, 12)
    logits, candidates = both.chunk(2, -1)
    expected = ssru_scan(logits.contiguous(), candidates.contiguous())
    assert torch.equal(ssru_scan(logits, candidates), expected)


def test_equals_the_layer_on_the_cpu_with_gradients(ssru_scan):
    torch.manual_seed(3)
    unit, x = SSRU(20), torch.randn(4, 6, 20, requires_grad=True)
    with torch.no_grad():
        unit.forget.bias.normal_()
    inputs = [x, *unit.parameters()]
    expected = unit(x)
    found = ssru_scan(unit.forget(x), unit.candidate(x))
    torch.testing.assert_close(found, expected)
    weights = torch.randn_like(found)
    for one, other in zip(
        torch.autograd.grad((found * weights).sum(), inputs),
        torch.autograd.grad((expected * weights).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
