"""`weebill benchmark training`: hand-counted operations, and a row from small models."""

import torch
from torch import nn

from weebill.benchmarks import training
from weebill.kernels.cpu_matmul import OneDnnLinears


def test_operations_of_a_linear_layer_and_its_gradients():
    linear, x = nn.Linear(20, 30), torch.randn(7, 20, requires_grad=True)

    def update():
        with OneDnnLinears():
            linear(x).sum().backward()

    assert training.operations(update) == 3 * 2 * 7 * 20 * 30
    assert training.operations(lambda: linear(x).sum().backward()) == 3 * 2 * 7 * 20 * 30


def test_a_row_for_each_model(monkeypatch):
    monkeypatch.setattr(training, "MODELS_MEASURED", {"demo.micro": 300})
    monkeypatch.setattr(training, "BATCH_TOKENS", 96)
    monkeypatch.setattr(training, "MATRIX", 32)
    threads = torch.get_num_threads()
    (row,) = training.run(rounds=2, arch=["demo.micro"])
    assert (row.unit, row.rounds) == ("GFLOP/s", 2)
    assert row.ours > 0 and row.other > 0
    assert torch.get_num_threads() == threads
