"""The runtime writes what PyTorch writes, for every kind of network and precision."""

import numpy as np
import pytest
import torch

from goldcrest.errors import InputError
from goldcrest.runtime.shortlist import Shortlist
from goldcrest.runtime.translator import Runtime
from goldcrest.translation.search import SearchOptions, greedy
from tests.runtime.conftest import ISAS, PIECES, SHAPES, network, quantized, sources

pytestmark = pytest.mark.parametrize("isa", ISAS)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("precision", ["float32", "int8", "int8_rowwise", "log4"])
def test_same_translations(isa, shape, precision):
    model = network(**SHAPES[shape])
    if precision != "float32":
        model = quantized(model, precision)
    options = SearchOptions(batch_size=7)
    expected = greedy([model], sources(), options)
    found = Runtime(model, isa).translate(sources(), options)
    same = [a == b for a, b in zip(found, expected, strict=True)]
    assert len({len(one) for one in expected}) > 3, "some end early, or the test says little"
    # sums in another order may decide nearly equal pieces otherwise
    assert sum(same) >= len(same) - 1


def test_a_shortlist_chooses_among_its_columns(isa):
    model = network()
    draw = np.random.default_rng(5)
    candidates = draw.integers(1, PIECES, (PIECES, 3)).astype(np.int32)
    shortlist = Shortlist(candidates, np.array([2, 3], dtype=np.int32))
    options = SearchOptions(batch_size=1)
    for source in sources(8):
        columns = shortlist.columns(source[:-1]) if len(source) > 1 else np.array([0])
        outside = np.setdiff1d(np.arange(PIECES), columns)
        with torch.no_grad():
            bias = model.output.bias.clone()
            model.output.bias[outside] = -torch.inf
            expected = greedy([model], [source], options)
            model.output.bias.copy_(bias)
        assert Runtime(model, isa, shortlist).translate([source], options) == expected


def test_a_student_of_mixed_precision_is_refused(isa):
    model = quantized(network(), "int8", skip=["encoder.1.*"])
    with pytest.raises(InputError, match="leaves some in float32"):
        Runtime(model, isa)
