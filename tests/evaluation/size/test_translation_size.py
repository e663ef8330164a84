"""Sizes, compared with the file system, an independent xz, and the papers' parameter counts."""

import json
import subprocess
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from weebill.errors import InputError
from weebill.evaluation.measurement import Variant, model_sha256
from weebill.evaluation.size.translation_size import (
    count_parameters,
    encoder_parameters,
    encoder_sparsity,
    measure_size,
    xz_size,
)
from weebill.files import sha256_file
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture, LayerShape

VARIANT = Variant("tiny", "unpruned", "float32")


def shape(heads: int, feed_forward: int) -> Architecture:
    layer = LayerShape(heads, 4, feed_forward)
    return Architecture(50, 16, (layer,) * 2, (LayerShape(4, 4, 32),), 2)


def make_folder(path, architecture=None, rows=300):
    path.mkdir()
    torch.manual_seed(0)
    save_file({"w": torch.randn(rows, 64)}, path / "model.safetensors")
    (path / "vocab.spm").write_bytes(b"v" * 315)
    ours = architecture and {"architecture": architecture.to_dict(), "parameters": 4321}
    config = ours or {"model_type": "marian"}
    (path / "config.json").write_text(json.dumps(config))
    return path


def test_sizes_are_the_file_systems(tmp_path):
    folder = make_folder(tmp_path / "m", shape(4, 32))
    size = measure_size(VARIANT, [folder])
    stat = {p.name: p.stat().st_size for p in folder.iterdir()}
    assert size.files == stat
    assert size.parameter_bytes == stat["model.safetensors"]
    assert size.vocabulary_bytes == 315
    assert size.model_sha256 == sha256_file(folder / "model.safetensors")


def test_xz_size_is_that_of_the_xz_program(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(range(256)) * 20000 + b"end")
    xz = subprocess.run(["xz", "-6", "-T1", "-c", path], capture_output=True, check=False)
    if xz.returncode:
        pytest.skip("the xz program is absent")
    assert xz_size(path) == len(xz.stdout)


def test_an_ensemble_is_counted_whole(tmp_path):
    folders = [make_folder(tmp_path / f"member-{i}", shape(4, 32), rows=300 + i) for i in range(2)]
    size = measure_size(Variant("teacher", "beam-4", "float32"), folders)
    assert size.members == 2
    assert size.parameters == 2 * count_parameters(folders[0])
    assert size.parameter_bytes == sum((f / "model.safetensors").stat().st_size for f in folders)
    assert size.files["member-1/vocab.spm"] == 315
    assert model_sha256(folders) != model_sha256(folders[::-1])


def test_parameters_are_those_the_folder_states_and_else_those_of_the_file(tmp_path):
    assert count_parameters(make_folder(tmp_path / "ours", shape(4, 32))) == 4321
    assert count_parameters(make_folder(tmp_path / "other", rows=30)) == 30 * 64


def test_a_foreign_model_is_counted_in_its_file(tmp_path):
    assert count_parameters(make_folder(tmp_path / "m")) == 300 * 64
    assert measure_size(VARIANT, [tmp_path / "m"]).architecture is None


def test_sparsity_is_the_share_removed(tmp_path):
    full = measure_size(VARIANT, [make_folder(tmp_path / "a", shape(4, 32))])
    cut = measure_size(VARIANT, [make_folder(tmp_path / "b", shape(1, 8))])
    assert encoder_sparsity(cut, full) == (0.75, 0.75)
    assert encoder_sparsity(full, full) == (0, 0)


def test_removed_layers_are_removed_heads_and_neurons(tmp_path):
    full = measure_size(VARIANT, [make_folder(tmp_path / "a", shape(4, 32))])
    layers = (LayerShape(4, 2, 24),)
    shallow = replace(shape(4, 32), encoder=layers)
    cut = measure_size(VARIANT, [make_folder(tmp_path / "b", shallow)])
    assert encoder_sparsity(cut, full) == (0.75, 1 - 24 / 64)


def test_the_encoders_parameters_are_counted():
    layers = (LayerShape(4, 4, 32), LayerShape(0, 4, 7), LayerShape(3, 5, 0))
    architecture = replace(shape(4, 32), encoder=layers)
    network = Translator(architecture)
    counted = sum(parameter.numel() for parameter in network.encoder.parameters())
    assert encoder_parameters(architecture.to_dict()) == counted


def test_a_folder_without_parameters_is_an_error(tmp_path):
    with pytest.raises(InputError, match="is this a model folder"):
        measure_size(VARIANT, [tmp_path])
