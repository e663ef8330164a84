"""Students exported to CTranslate2 give the same translations there as in Weebill."""

import numpy as np
import pytest
import torch

from tests.runtime.conftest import PIECES, SHAPES, network, sources
from weebill.errors import InputError
from weebill.runtime.exports import ctranslate2 as exporting
from weebill.runtime.exports.ctranslate2 import export
from weebill.translation.search import greedy
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

ctranslate2 = pytest.importorskip("ctranslate2")
NAMES = ["</s>", "<unk>", *(f"▁p{index}" for index in range(2, PIECES))]


def translated(folder, texts, **options):
    engine = ctranslate2.Translator(str(folder), "cpu", compute_type="float32")
    named = [[NAMES[piece] for piece in source[:-1]] for source in texts]
    found = engine.translate_batch(named, beam_size=1, **options)
    return [[NAMES.index(piece) for piece in one.hypotheses[0]] for one in found]


@pytest.mark.parametrize("shape", ["attention", "attention, untied"])
def test_ctranslate2_translates_alike(tmp_path, shape):
    model = network(**SHAPES[shape])
    export(model, NAMES, tmp_path / "exported", quantization=None)
    texts = [source for source in sources() if len(source) > 1]
    options = SearchOptions(length_factor=0.0, length_constant=20, allow_unknown=True)
    expected = greedy([model], texts, options)
    found = translated(tmp_path / "exported", texts, max_decoding_length=20, disable_unk=False)
    same = [a[:19] == b[:19] for a, b in zip(found, expected, strict=True)]
    assert sum(same) >= len(same) - 1


@pytest.mark.parametrize("quantization", [None, "int8", "int8_bfloat16", "int16", "bfloat16"])
def test_the_network_stays_as_it_was(tmp_path, quantization):
    """CTranslate2 quantizes its input in place, so it gets a copy; the exported model has our scores."""
    model = network(**SHAPES["attention"])
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    export(model, NAMES, tmp_path / "exported", quantization=quantization)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_a_wrong_model_is_not_written(tmp_path, monkeypatch):
    weights = exporting._array
    monkeypatch.setattr(exporting, "_array", lambda tensor: -weights(tensor))
    with pytest.raises(RuntimeError, match="differ by"):
        export(network(**SHAPES["attention"]), NAMES, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


def test_ctranslate2_uses_the_shortlist(tmp_path):
    model = network(**SHAPES["attention"])
    candidates = np.full((PIECES, 2), -1, dtype=np.int32)
    candidates[:, 0] = 5
    shortlist = Shortlist(candidates, np.array([0, 7], dtype=np.int32))
    export(model, NAMES, tmp_path / "exported", quantization=None, shortlist=shortlist)
    texts = [source for source in sources() if len(source) > 1]
    found = translated(
        tmp_path / "exported", texts, use_vmap=True, disable_unk=True, max_decoding_length=20
    )
    assert {piece for one in found for piece in one} <= {5, 7}


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("ssru", "no SSRU decoder"),
        ("ssru, pruned", "no SSRU decoder"),
        ("attention, no heads", "as many heads in a decoder's self-attention"),
        ("attention, no neurons", r"none in encoder layer 1, 3; export it to ONNX"),
    ],
)
@pytest.mark.parametrize("quantization", [None, "int8"])
def test_what_ctranslate2_cannot_hold_is_said(tmp_path, shape, message, quantization):
    shapes = {**SHAPES, "attention, no neurons": {"kind": "attention", "inner": (0, 96, 0)}}
    with pytest.raises(InputError, match=message):
        export(network(**shapes[shape]), NAMES, tmp_path / "exported", quantization)
    assert not (tmp_path / "exported").exists()


@pytest.mark.parametrize("seed", range(4))
def test_narrow_students_are_written_in_int8(tmp_path, monkeypatch, seed):
    """Rounding changes the scores of narrow students a lot, but this is not an error of the export."""
    seeded = torch.manual_seed
    monkeypatch.setattr(torch, "manual_seed", lambda _: seeded(seed))
    model = network(kind="attention", width=8, head=4, inner=(16, 16, 16))
    export(model, NAMES, tmp_path / "exported")
    assert (tmp_path / "exported/model.bin").is_file()


def test_a_student_that_int8_destroys_is_refused_with_a_remedy(tmp_path):
    """One huge activation, which no output reads, determines the scale of all activations."""
    model = network(**SHAPES["attention"])
    with torch.no_grad():
        model.decoder[-1].feed_forward_norm.weight.mul_(3)
        model.decoder[-1].feed_forward_norm.bias[0] = 1e4
        model.embedding.weight[:, 0] = 0
    with pytest.raises(InputError, match=r"exported: .* in int8 .* convert --quantization float32"):
        export(model, NAMES, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()
    export(model, NAMES, tmp_path / "exported", quantization="float32")
    assert (tmp_path / "exported/model.bin").is_file()
