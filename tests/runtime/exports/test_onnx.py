"""ONNX graphs, run by onnxruntime, give the output of greedy search."""

import json

import numpy as np
import onnx
import pytest
import torch

from tests.runtime.conftest import network
from tests.runtime.exports.students import (
    OPTIONS,
    PIECES,
    SHAPES,
    UNEVEN,
    onnx_greedy,
    student,
    texts,
)
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.runtime.exports.onnx import exporting
from weebill.runtime.exports.onnx.exporting import OnnxStudent, encoder, export
from weebill.translation.search import greedy

LIMIT = OPTIONS.limit(0)
ODD = {"heads of 24": {"head": 24}, "attention, no heads": {"kind": "attention", "own": 0}}


@pytest.mark.parametrize("name", [*SHAPES, *UNEVEN, *ODD])
def test_onnxruntime_translates_alike(tmp_path, vocabulary, name):
    """The batch for ONNX has sentences of different lengths; our batches never do."""
    model = network(**ODD[name], pieces=PIECES) if name in ODD else student(name)
    export(model, vocabulary, tmp_path / "onnx")
    expected = greedy([model], texts(), OPTIONS)
    assert onnx_greedy(OnnxStudent(tmp_path / "onnx"), texts(), LIMIT, unknown=True) == expected


@pytest.mark.parametrize("grid", ["int8", "log4"])
def test_a_student_on_a_grid_leaves_as_decoded(tmp_path, vocabulary, grid):
    """Weights are on the grid, but activations are not: a plain network with these weights translates alike."""
    model = student("ssru")
    scales = {name: 20.0 for name, _ in quantizable_linears(model)} if grid == "int8" else None
    on_grid, plain = quantize_model(student("ssru"), grid, scales), model
    for name, module in on_grid.named_modules():
        if isinstance(getattr(module, "weight", None), torch.Tensor):
            plain.get_submodule(name).weight.data.copy_(module.weight)
    export(on_grid, vocabulary, tmp_path / "onnx")
    found = onnx_greedy(OnnxStudent(tmp_path / "onnx"), texts(), LIMIT, unknown=True)
    assert found == greedy([plain], texts(), OPTIONS)


def test_the_unknown_piece_is_left_out(tmp_path, vocabulary):
    model = student("ssru, untied")
    model.output.bias.data[1] = 100.0
    export(model, vocabulary, tmp_path / "onnx")
    found = onnx_greedy(OnnxStudent(tmp_path / "onnx"), texts(4), LIMIT)
    assert all(piece != 1 for translation in found for piece in translation) and any(found)


@pytest.mark.parametrize("name", ["ssru", "attention, untied"])
def test_the_description_is_that_of_the_graphs(tmp_path, vocabulary, name):
    export(student(name), vocabulary, tmp_path / "onnx")
    description = json.loads((tmp_path / "onnx/model.json").read_text())
    for part in ("encoder", "decoder"):
        graph = onnx.load(tmp_path / f"onnx/{part}.onnx").graph
        for side, ends in (("inputs", graph.input), ("outputs", graph.output)):
            shapes = {
                end.name: [
                    size.dim_param or size.dim_value for size in end.type.tensor_type.shape.dim
                ]
                for end in ends
            }
            assert shapes == {key: shape for key, (_, shape) in description[part][side].items()}


def test_equal_students_make_equal_files_and_tied_layers_are_stored_once(tmp_path, vocabulary):
    for folder in ("one", "two"):
        export(student("ssru"), vocabulary, tmp_path / folder)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file
    weights = student("ssru").state_dict()
    stored = sum(weights[name].numel() for name in weights if name.startswith("decoder."))
    memory = student("ssru").decoder[0].cross_attention
    in_encoder = 2 * (memory.key.weight.numel() + memory.key.bias.numel())
    graph = onnx.load(tmp_path / "one/decoder.onnx").graph
    held = sum(
        int(np.prod(tensor.dims)) for tensor in graph.initializer if "decoder." in tensor.name
    )
    assert held == stored - in_encoder


def test_what_differs_is_not_written(tmp_path, vocabulary, monkeypatch):
    other = student("ssru")
    other.encoder[0].feed_forward.inner.weight.data.neg_()
    monkeypatch.setattr(exporting, "encoder", lambda _, *ends: encoder(other, *ends))
    with pytest.raises(RuntimeError, match="differ by"):
        export(student("ssru"), vocabulary, tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()
