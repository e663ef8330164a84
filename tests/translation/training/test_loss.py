"""The sliced loss against torch's cross-entropy, values and gradients."""

import pytest
import torch
from torch.nn import functional

from tests.translation.conftest import small_architecture
from weebill.translation.model.batch import make_batch
from weebill.translation.training import loss
from weebill.translation.training.trainer import new_network


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_equals_torch_with_gradients(label_smoothing, monkeypatch):
    monkeypatch.setattr(loss, "SLICE", 4)
    torch.manual_seed(1)
    hidden, weight, bias = torch.randn(10, 6), torch.randn(23, 6), torch.randn(23)
    target, factor = torch.randint(0, 23, (10,)), torch.rand(10)
    operands = [value.double().requires_grad_() for value in (hidden, weight, bias)]
    logits = operands[0] @ operands[1].T + operands[2]
    each = functional.cross_entropy(
        logits, target, reduction="none", label_smoothing=label_smoothing
    )
    expected = (each * factor).sum()
    expected.backward()
    ours = [value.clone().requires_grad_() for value in (hidden, weight, bias)]
    result = loss.output_cross_entropy(*ours, target, factor, label_smoothing)
    (2 * result).backward()
    assert result.item() == pytest.approx(expected.item(), rel=1e-5)
    for mine, oracle in zip(ours, operands, strict=True):
        torch.testing.assert_close(mine.grad, 2 * oracle.grad.float(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["ssru", "attention"])
def test_the_host_never_waits_for_a_number_of_the_device(kind, monkeypatch):
    """Tensors without data (device meta) stand for a GPU's; a copy to the host would wait for the GPU."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: False)  # it rejects meta
    network = new_network(small_architecture(12, kind), seed=1, dropout=0.1).to("meta").train()
    batch = make_batch([[5, 6, 7, 0], [8, 0]], [[9, 4, 0], [3, 2, 6, 0]]).to("meta")
    result = loss.batch_loss(network, batch, batch.words, label_smoothing=0.1)
    result.backward()
    assert all(p.grad.shape == p.shape for p in network.parameters() if p.requires_grad)
