"""Shortlists in fixed memory: the same translations as with new layers for each batch."""

import numpy as np
import pytest
import torch

from tests.runtime.conftest import PIECES, network, quantized, sources
from weebill.runtime import fixed_output
from weebill.runtime.fixed_output import FixedOutputs
from weebill.runtime.portable import PortableEngine
from weebill.runtime.translator import Runtime
from weebill.translation.model.batch import pad
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.fixed import FixedDecoder
from weebill.translation.search.fixed_greedy import fixed_greedy
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

FEW = SearchOptions(batch_size=7, length_factor=0.5)


@pytest.mark.workflows
@pytest.mark.parametrize("precision", ["float32", "int8", "int8_rowwise", "log4"])
def test_columns_in_fixed_memory(precision, monkeypatch):
    """A decoder keeps its graphs while columns change; padding is not chosen, even if all outputs are negative."""
    monkeypatch.setattr(fixed_output, "FEWEST_COLUMNS", 32)
    model = network() if precision == "float32" else quantized(network(), precision)
    model.output.bias.data -= 100
    engine, reference = PortableEngine(model), PortableEngine(model)
    decoder, draw, sizes = FixedDecoder(torch.device("cpu")), np.random.default_rng(2), set()
    found = sorted((one for one in sources(12) if len(one) > 1), key=len, reverse=True)
    for count in (20, 25, 60, 100, 30, 290):
        chosen = np.sort(draw.choice(np.arange(2, PIECES), count, replace=False))
        columns = np.concatenate([[0, 1], chosen]).astype(np.int32)
        limits = [FEW.limit(len(one) - 1) for one in found]
        reference.choose(columns)
        expected = reference.greedy(found, limits, False)
        layer, held = engine._fixed.choose(columns)
        engine._hold(layer, held)
        engine.output_columns = len(held)
        sizes.add(len(held))
        pieces = fixed_greedy(decoder, Ensemble([engine]), *pad(found), torch.tensor(limits))
        assert [[columns[one] for one in line] for line in pieces] == expected
        assert any(expected)
    assert sizes == {32, 64, 128, PIECES}
    # One graph of the encoder, and one of a step for each size; 64 columns also serve for 62.
    assert len(decoder.replays) >= 4


def test_a_layer_keeps_its_place():
    outputs = FixedOutputs(network().output)
    first, held = outputs.choose(np.arange(20))
    places = first.weight.data_ptr(), first.bias.data_ptr(), held.data_ptr()
    again, held = outputs.choose(np.arange(30, 70))
    assert again is first
    assert places == (again.weight.data_ptr(), again.bias.data_ptr(), held.data_ptr())


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["ssru", "attention"])
def test_a_runtime_on_a_gpu_with_a_shortlist(kind, whole_products):
    """Greedy search and beams, with one network and an ensemble, equal the CPU's."""
    candidates = np.random.default_rng(5).integers(1, PIECES, (PIECES, 3)).astype(np.int32)
    shortlist = Shortlist(candidates, np.arange(2, 30, dtype=np.int32))
    beams = SearchOptions(beam=4, nbest=2, length_factor=0.5, batch_size=7)
    for members in (1, 2):
        models = [network(kind=kind) for _ in range(members)]
        here = Runtime(models, "portable", shortlist)
        there = Runtime([model.cuda() for model in models], "portable", shortlist)
        assert there.translate(sources(), FEW) == here.translate(sources(), FEW)
        pairs = zip(there.search(sources(), beams), here.search(sources(), beams), strict=True)
        for ours, theirs in pairs:
            assert [one.tokens for one in ours] == [one.tokens for one in theirs]
            scores = [one.score for one in theirs]
            assert [one.score for one in ours] == pytest.approx(scores, abs=1e-3)
