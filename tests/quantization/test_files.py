"""Sections and tensors of quantized models are read as they were written."""

import pytest
import torch
from torch import nn

from weebill.quantization.files import apply, merged, section
from weebill.quantization.modules import quantize_model
from weebill_runtime.weights import separated


class Tied(nn.Module):
    """Embedding with a table that is also the output's weight."""

    def __init__(self):
        super().__init__()
        self.embedding, self.output = nn.Embedding(6, 4), nn.Linear(4, 6)
        self.output.weight = self.embedding.weight


@pytest.mark.parametrize("skip", [[], None])
def test_a_section_makes_the_model_that_was_stored(skip):
    described = section("int8")
    if skip is None:
        del described["skip"]
    stored = merged(quantize_model(Tied(), "int8").state_dict())
    model = apply(Tied(), described)
    like = {name: tuple(one.shape) for name, one in model.state_dict().items()}
    found = separated({name: one.numpy() for name, one in stored.items()}, like)
    model.load_state_dict({name: torch.from_numpy(one) for name, one in found.items()})
    assert torch.equal(merged(model.state_dict())["float32"], stored["float32"])
