"""Folders of packed weights are read by the right classes, and their tensors checked for their grids."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from weebill.errors import InputError
from weebill.quantization.files import section
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.translation.model.folder import load_model, save_model
from weebill.translation.model.packed_folder import load_any_model, save_any_model


@pytest.fixture
def folder(tmp_path, network, vocabulary):
    save_model(tmp_path / "model", network, vocabulary, {"seed": 1})
    return tmp_path / "model"


def test_what_reads_float32_alone_refuses_packed_weights(tmp_path, network, vocabulary):
    quantize_model(network, "log4")
    save_any_model(tmp_path / "model", network, vocabulary, {}, section("log4"))
    with pytest.raises(InputError, match="model: its weights are on a grid; name the float32"):
        load_model(tmp_path / "model")
    assert load_any_model(tmp_path / "model").config["quantization"]["grid"] == "log4"


@pytest.mark.parametrize("scale", ["activation_scale", "quantized.scale"])
@pytest.mark.parametrize("number", [torch.nan, torch.inf, 0.0, -1.0])
def test_a_scale_that_is_none_is_refused(tmp_path, network, vocabulary, scale, number):
    quantize_model(network, "int8", {name: 1.0 for name, _ in quantizable_linears(network)})
    name = f"encoder.0.feed_forward.inner.{scale}"
    network.get_buffer(name).fill_(number)
    save_any_model(tmp_path / "model", network, vocabulary, {}, section("int8", "mean-of-maxima"))
    message = rf"model\.safetensors: {name} is {number:g}, expected a number above 0"
    with pytest.raises(InputError, match=message):
        load_any_model(tmp_path / "model")


def test_a_weight_of_zeros_may_be_on_a_logarithmic_grid(tmp_path, network, vocabulary):
    with torch.no_grad():
        network.encoder[0].feed_forward.inner.weight.zero_()
    save_any_model(
        tmp_path / "model", quantize_model(network, "log4"), vocabulary, {}, section("log4")
    )
    assert not load_any_model(tmp_path / "model").network.encoder[0].feed_forward.inner.weight.any()


@pytest.mark.parametrize("grid", ["float32", "int8", "int8_rowwise", "log4"])
def test_tensors_of_another_type_are_refused(tmp_path, network, vocabulary, grid):
    """Converted tensors would lose fractions or have wrong codes, and give arbitrary translations."""
    if grid != "float32":
        quantize_model(network, grid, None)
    save_any_model(
        tmp_path, network, vocabulary, {}, None if grid == "float32" else section(grid, None)
    )
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    codes = "U8" if grid == "log4" else "I8"
    names = {
        torch.int64: "I64",
        torch.bool: "BOOL",
        torch.complex64: "C64",
        torch.float16: "F16",
        torch.float64: "F64",
        torch.int8: "I8",
        torch.uint8: "U8",
    }
    for one in (sorted(tensors)[0], sorted(tensors)[-1]):
        wanted = codes if one.endswith(".codes") else "F32"
        for kind, name in names.items():
            save_file({**tensors, one: tensors[one].to(kind)}, file)
            if name == wanted:
                load_any_model(tmp_path)
            else:
                message = f"model.safetensors: tensor {one} is {name}, expected {wanted}; "
                with pytest.raises(InputError, match=message):
                    load_any_model(tmp_path)


def test_integers_do_not_replace_the_float32_model_they_are_made_of(folder, tmp_path, network):
    model = load_any_model(folder)
    (tmp_path / "link").symlink_to(tmp_path)
    quantized = quantize_model(model.network, "int8"), model.vocabulary, {}, section("int8")
    for path in (folder, tmp_path / "nothing/../model", tmp_path / "link/model"):
        with pytest.raises(InputError, match="is the folder the model was read from; name another"):
            save_any_model(path, *quantized)
    assert "quantization" not in load_any_model(folder).config
    save_any_model(tmp_path / "int8", *quantized)
