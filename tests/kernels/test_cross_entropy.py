"""The GPU's kernel of cross-entropy, in Triton's interpreter and on a GPU, compared with float64 on the CPU."""

import pytest
import torch
from torch.nn import functional

from weebill.translation.training import loss


@pytest.fixture
def kernel(interpreted):
    return interpreted("weebill.kernels.cross_entropy")


def operands(rows, pieces, width=6, dtype=torch.float32):
    """Return hidden states, weight and bias of a type, and then targets and factors (one factor is 0)."""
    torch.manual_seed(rows + pieces)
    network = [
        torch.randn(shape).to(dtype) for shape in ((rows, width), (pieces, width), (pieces,))
    ]
    factor = torch.rand(rows)
    factor[:1] = 0
    return *network, torch.randint(0, pieces, (rows,)), factor


def exact(hidden, weight, bias, target, factor, smoothing):
    """Return the loss and the three gradients from torch's own function, in float64."""
    values = [value.double().requires_grad_() for value in (hidden, weight, bias)]
    scores = values[0] @ values[1].T + values[2]
    each = functional.cross_entropy(scores, target, reduction="none", label_smoothing=smoothing)
    total = (each * factor).sum()
    return total.detach(), *torch.autograd.grad(total, values)


def ours(values, smoothing, fused, device="cpu"):
    """Return the loss and the three gradients, on the CPU in float64."""
    hidden, weight, bias, target, factor = (value.to(device) for value in values)
    learnt = [value.requires_grad_() for value in (hidden, weight, bias)]
    total = loss._OutputCrossEntropy.apply(*learnt, target, factor, smoothing, fused)
    found = total.detach(), *torch.autograd.grad(2 * total, learnt)
    return [value.cpu().double() for value in (found[0], *(value / 2 for value in found[1:]))]


def errors(found, expected):
    """Return the Euclidean error of each value, relative to the expected one."""
    pairs = zip(found, expected, strict=True)
    return [float((one - other).norm() / (other.norm() + 1e-30)) for one, other in pairs]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(("rows", "pieces", "columns"), [(5, 23, 8), (3, 16, 16), (4, 7, 4096)])
def test_equals_torch_in_float64_with_gradients(
    kernel, monkeypatch, smoothing, rows, pieces, columns
):
    """A row has several parts, the last one not full, or exactly one part; a slice has two rows."""
    monkeypatch.setattr(kernel, "COLUMNS", columns)
    monkeypatch.setattr(loss, "SLICE", 2)
    values = operands(rows, pieces)
    expected = exact(*values, smoothing)
    assert max(errors(ours(values, smoothing, fused=True), expected)) < 1e-5


def test_bfloat16_equals_the_path_of_the_cpu(kernel):
    """The interpreter truncates gradients to bfloat16, where a GPU rounds; a last digit is 0.004."""
    values = operands(6, 21, dtype=torch.bfloat16)
    plain, fused = (ours(values, 0.1, fused=fused) for fused in (False, True))
    assert max(errors(fused, plain)) < 5e-3
    assert max(errors(fused, exact(*values, 0.1))) < 1e-2


def test_large_scores_do_not_overflow_and_small_ones_do_not_vanish(kernel, monkeypatch):
    monkeypatch.setattr(kernel, "COLUMNS", 2)
    scores = torch.tensor(
        [[-1e4, 300.0, 299.0, -1e30, 1e4], [-500.0, -501.0, -502.0, -503.0, -504.0]]
    )
    labels, factor = torch.tensor([4, 2]), torch.ones(2)
    expected = functional.cross_entropy(scores.double(), labels, reduction="none").float()
    found, none = kernel.row_losses(scores.clone(), labels, factor, 0.0, gradient=False)
    assert none is None
    torch.testing.assert_close(found, expected)


def test_without_gradients_the_scores_stay(kernel):
    values = operands(3, 9)
    scores = values[0] @ values[1].T
    before = scores.clone()
    kernel.row_losses(scores, values[3], values[4], 0.1, gradient=False)
    assert torch.equal(scores, before)
    with torch.no_grad():
        total = loss._OutputCrossEntropy.apply(*values, 0.1, True)
    assert float(total) == pytest.approx(float(exact(*values, 0.1)[0]), rel=1e-5)


def test_no_rows_have_no_loss(kernel):
    values = operands(0, 9)
    total, *gradients = ours(values, 0.1, fused=True)
    assert total == 0
    assert not any(gradient.any() for gradient in gradients)


@pytest.mark.gpu
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("pieces", [6000, 32001])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_card_is_as_near_to_float64_as_torch(monkeypatch, smoothing, pieces, dtype):
    torch.set_float32_matmul_precision("highest")
    monkeypatch.setattr(loss, "slice_rows", lambda weight: 300)  # several slices, the last not full
    values = operands(777, pieces, 64, dtype)
    expected = exact(*values, smoothing)
    fused, plain = (
        errors(ours(values, smoothing, fused=fused, device="cuda"), expected)
        for fused in (True, False)
    )
    names = ("loss", "hidden", "weight", "bias")
    report = dict(zip(names, zip(fused, plain, strict=True), strict=True))
    print(report)
    # Both round scores to bfloat16; scores are up to 30 here.
    assert all(one < max(1e-5, 1.2 * other) for one, other in report.values()), report
