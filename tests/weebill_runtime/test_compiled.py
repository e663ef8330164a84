"""Positions and the instruction set that the engine gets: positions are as in PyTorch."""

import numpy as np
import pytest
import torch

from tests.runtime.conftest import network, quantized
from weebill.runtime.translator import weights_of
from weebill.translation.model.network import sinusoids as by_torch
from weebill_runtime import compiled
from weebill_runtime.compiled import best_instruction_set, sinusoids
from weebill_runtime.errors import InputError


@pytest.mark.parametrize("width", [16, 96, 256, 512])
def test_positions_are_those_of_the_network(width):
    """Last bits differ, because libraries round exponentials, sines and cosines differently."""
    expected = by_torch(0, 300, width, torch.device("cpu")).numpy()
    found = sinusoids(300, width)
    assert found.dtype == np.float32 and np.abs(found - expected).max() < 1e-4
    assert (found == expected).mean() > 0.9


def test_the_fastest_instruction_set_that_can_hold_the_student(monkeypatch):
    monkeypatch.setattr(compiled, "available", lambda: ["vnni", "avx2", "portable"])
    assert best_instruction_set(weights_of(network())) == "vnni"
    for model in (network(width=24), quantized(network(), "int8", skip=["encoder.1.*"])):
        with pytest.raises(InputError, match="the engine cannot hold this model"):
            best_instruction_set(weights_of(model))
