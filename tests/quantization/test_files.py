"""The `quantization` section of a config.json, compared with the settings written there."""

import pytest
import torch
from torch import nn

from weebill.errors import InputError
from weebill.quantization.files import apply, merged, section, separated
from weebill.quantization.modules import quantize_model


class Tied(nn.Module):
    """Embedding whose table is also the output's weight."""

    def __init__(self):
        super().__init__()
        self.embedding, self.output = nn.Embedding(6, 4), nn.Linear(4, 6)
        self.output.weight = self.embedding.weight


def packed():
    return merged(quantize_model(Tied(), "int8").state_dict())


@pytest.mark.parametrize("skip", [[], None])
def test_a_section_makes_the_model_that_was_stored(skip):
    described = section("int8")
    if skip is None:
        del described["skip"]
    stored = packed()
    model = apply(Tied(), described, stored)
    model.load_state_dict(separated(stored, model.state_dict()))
    assert torch.equal(merged(model.state_dict())["float32"], stored["float32"])


@pytest.mark.parametrize(
    ("described", "message"),
    [
        (None, "quantization: None, expected keys and values"),
        ("int8", "quantization: 'int8', expected keys and values"),
        (["int8"], "quantization: .*, expected keys and values"),
        ({}, "no quantization grid ''"),
        ({"grid": ["int8"]}, r"quantization\.grid: \['int8'\], expected a name"),
        ({"grid": None}, r"quantization\.grid: None, expected a name"),
        ({"grid": "int9"}, "no quantization grid 'int9'; did you mean 'int8'"),
        ({"activation_scale": 1.0}, r"quantization\.activation_scale: 1\.0, expected a name or null"),
        ({"skip": None}, r"quantization\.skip: None, expected a list of name patterns"),
        ({"skip": "embedding"}, r"quantization\.skip: 'embedding', expected a list"),
        ({"skip": [3]}, r"quantization\.skip: \[3\], expected a list"),
        ({"skip": ["embedding"]}, r"quantization\.skip: output shares its weight with embedding"),
        ({"skips": []}, r"quantization\.skips: unknown; did you mean 'skip'"),
    ],
)  # fmt: skip
def test_a_damaged_section_is_named(described, message):
    if isinstance(described, dict) and described:
        described = {**section("int8"), **described}
    with pytest.raises(InputError, match=f"^{message}"):
        apply(Tied(), described, packed())


def test_codes_without_their_numbers_are_refused():
    stored = packed()
    model = apply(Tied(), section("int8"), stored)
    del stored["float32"]
    with pytest.raises(InputError, match="no tensor float32 beside the codes"):
        separated(stored, model.state_dict())
