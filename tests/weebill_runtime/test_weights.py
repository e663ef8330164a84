"""Names, shapes and numbers of weights equal those of PyTorch's network."""

import numpy as np
import pytest

from tests.quantization.listed import LISTED, listed_grids
from tests.runtime.conftest import SHAPES, network, quantized, sources
from weebill.experiment import precisions
from weebill.quantization.files import section
from weebill.quantization.grids import grid_named
from weebill.quantization.grids.listed import ListedGrid
from weebill.runtime.translator import weights_of
from weebill.translation.model.folder import own_tensors
from weebill_runtime.errors import InputError
from weebill_runtime.weights import (
    GRIDS,
    INTEGERS,
    checked_grid,
    quantized_shapes,
    separated,
    shapes,
)


def test_the_grids_are_those_of_the_library():
    own = {name for name in precisions.GRIDS if not isinstance(grid_named(name), ListedGrid)}
    assert own | {"log4"} == set(GRIDS) <= precisions.GRIDS.keys()
    assert set(INTEGERS) == precisions.INTEGER_GRIDS.keys()


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_a_network(shape):
    model = network(**SHAPES[shape])
    expected = {name: tuple(one.shape) for name, one in own_tensors(model).items()}
    assert shapes(model.architecture) == expected
    assert model.architecture.parameters == sum(map(np.prod, expected.values()))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("grid", [*precisions.GRIDS, *LISTED])
def test_shapes_and_numbers_on_a_grid(shape, grid):
    model = network(**SHAPES[shape])
    architecture = model.architecture
    with listed_grids():
        quantized(model, grid, texts=sources(2))
        scales = "mean-of-maxima" if grid in precisions.INTEGER_GRIDS else None
        found, described = weights_of(model), section(grid, scales)
    expected = {name: one.shape for name, one in found.tensors.items()}
    assert quantized_shapes(architecture, described) == expected
    assert found.grid == grid and found.integer == (grid in INTEGERS)
    for name, module in model.named_modules():
        if hasattr(module, "quantized"):
            assert np.array_equal(found.numbers(name), module.weight.numpy()), name


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
        ({"numbers": 1}, r"quantization\.numbers: 1, expected a list of 1 to 256 numbers"),
        ({"numbers": [1.0]}, r"quantization\.numbers: int8 has numbers of its own"),
        ({"grid": "int9", "numbers": []}, r"quantization\.numbers: \[\], expected a list"),
        ({"grid": "int9", "numbers": [0] * 257}, r"quantization\.numbers: \[0, 0.*expected a list"),
        ({"grid": "int9", "numbers": [True]}, r"quantization\.numbers: \[True\], expected a list"),
        ({"grid": "int9", "numbers": [1e39]}, r"quantization\.numbers: \[1e\+39\], expected a list"),
    ],
)  # fmt: skip
def test_a_damaged_section_is_named(described, message):
    if isinstance(described, dict) and described:
        described = {**section("int8"), **described}
    with pytest.raises(InputError, match=f"^{message}"):
        quantized_shapes(network().architecture, described)


def test_a_section_may_lack_what_has_a_default():
    assert checked_grid({"grid": "log4"}) == "log4"


def test_codes_and_their_numbers_belong_together():
    like = {"a.quantized.codes": (2,), "a.quantized.scale": (), "b.bias": (3,)}
    codes, numbers = np.zeros(2, np.int8), np.arange(4, dtype=np.float32)
    found = separated({"a.codes": codes, "float32": numbers}, like)
    assert found["a.quantized.scale"] == 0 and found["b.bias"].tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="no tensor float32 beside the codes"):
        separated({"a.codes": codes}, like)
    with pytest.raises(InputError, match=r"3 float32 numbers beside the codes, .* there are 4"):
        separated({"a.codes": codes, "float32": numbers[:3]}, like)
    with pytest.raises(InputError, match="there are no codes"):
        separated({"float32": numbers}, like)
