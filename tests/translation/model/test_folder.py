"""Model folders: exact round trip, equal bytes, and errors that name what is wrong."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from weebill.errors import InputError
from weebill.quantization.files import section
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.translation.model.folder import count_parameters, load_model, save_model


@pytest.fixture
def folder(tmp_path, network, vocabulary):
    save_model(tmp_path / "model", network, vocabulary, {"seed": 1})
    return tmp_path / "model"


def test_round_trip(folder, network):
    model = load_model(folder)
    assert model.network.architecture == network.architecture
    assert model.config["lineage"] == {"seed": 1}
    assert model.config["parameters"] == count_parameters(network)
    assert model.network.output.weight is model.network.embedding.weight
    for name, value in network.state_dict().items():
        assert torch.equal(value, model.network.state_dict()[name]), name


def test_tied_weights_are_stored_once(folder, network):
    assert count_parameters(network) * 4 == pytest.approx(
        (folder / "model.safetensors").stat().st_size, abs=8192
    )


def test_equal_models_make_equal_bytes(folder, tmp_path, network, vocabulary):
    save_model(tmp_path / "again", network, vocabulary, {"seed": 1})
    for file in folder.iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_damage_is_named(folder):
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:100])
    with pytest.raises(InputError, match=r"model\.safetensors: missing or damaged"):
        load_model(folder)


def test_another_vocabulary_is_named(folder):
    config = json.loads((folder / "config.json").read_text())
    config["vocabulary"]["sha256"] = "0" * 64
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="made with vocabulary 00000000…"):
        load_model(folder)


def _within(*keys, **values):
    """A change of config.json: new values at the end of some keys."""

    def change(config):
        place = config
        for key in keys:
            place = place[key]
        place.update(values)
        return config

    return change


def _damage(folder, change):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(change(config)))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda config: [config], "format None, expected 'weebill-translation-1'"),
        (lambda config: config.pop("vocabulary") and config, "damaged, .*KeyError: 'vocabulary'"),
        (lambda config: config.pop("architecture") and config, "damaged, .*KeyError: 'architecture'"),
        (lambda config: config["architecture"].update(ears=2) or config, "damaged, .*'ears'"),
        (lambda config: config["architecture"]["encoder"][0].update(ears=2) or config, "damaged, .*'ears'"),
        (lambda config: config["architecture"].update(vocabulary=7) or config, "of 7 pieces, but vocab.spm has"),
        (lambda _config: "text", "format None"),
        (_within("architecture", encoder=[]), r"architecture\.encoder: \[\], expected"),
        (_within("architecture", "encoder", 0, heads="4"), r"architecture\.encoder\[0\]\.heads: '4', expected"),
        (_within("architecture", embedding="16"), r"architecture\.embedding: '16', expected"),
        (_within("architecture", decoder_depth=0), r"architecture\.decoder_depth: 0, expected"),
        (_within(parameters=7), "parameters 7, but the network"),
        (_within(quantization=None), "quantization: None, expected keys and values"),
        (_within(quantization="int8"), "quantization: 'int8', expected keys and values"),
    ],
)  # fmt: skip
def test_a_damaged_configuration_is_named(folder, changed, message):
    _damage(folder, changed)
    with pytest.raises(InputError, match=f"config.json: .*{message}"):
        load_model(folder)


def test_not_a_model(tmp_path):
    with pytest.raises(InputError, match="not a model folder"):
        load_model(tmp_path)


@pytest.mark.parametrize("width", [32, 2**20])
def test_another_shape_is_named(folder, width):
    _damage(folder, _within("architecture", "encoder", 0, feed_forward=width))
    with pytest.raises(InputError, match=r"model\.safetensors: encoder\.0\.feed_forward"):
        load_model(folder)


def test_widths_that_the_tensors_do_not_have_take_no_memory(folder):
    """A layer of them would take 16 TiB."""
    _damage(folder, _within("architecture", embedding=2**14))
    _damage(folder, _within("architecture", "encoder", 0, heads=2**14, head_size=2**14))
    with pytest.raises(InputError, match=r"by the architecture .*16384"):
        load_model(folder)


def test_tensors_too_many_to_name_are_counted(folder):
    (folder / "model.safetensors").unlink()
    save_file({"other": torch.zeros(1)}, folder / "model.safetensors")
    message = r"missing \['embedding.weight', .* and \d+ more, not expected \['other'\]"
    with pytest.raises(InputError, match=message):
        load_model(folder)


@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("name", ["output.bias", "encoder.1.attention_norm.weight"])
def test_a_model_that_has_diverged_is_refused(folder, name, number):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors[name][-1] = number
    save_file(tensors, path)
    message = rf"model\.safetensors: NaN or infinity in \['{name}'\]; the model has diverged"
    with pytest.raises(InputError, match=message):
        load_model(folder)


@pytest.mark.parametrize("scale", ["activation_scale", "quantized.scale"])
@pytest.mark.parametrize("number", [torch.nan, torch.inf, 0.0, -1.0])
def test_a_scale_that_is_none_is_refused(tmp_path, network, vocabulary, scale, number):
    quantize_model(network, "int8", {name: 1.0 for name, _ in quantizable_linears(network)})
    name = f"encoder.0.feed_forward.inner.{scale}"
    network.get_buffer(name).fill_(number)
    save_model(tmp_path / "model", network, vocabulary, {}, section("int8", "mean-of-maxima"))
    message = rf"model\.safetensors: {name} is {number:g}, expected a number above 0"
    with pytest.raises(InputError, match=message):
        load_model(tmp_path / "model")


def test_a_weight_of_zeros_may_be_on_a_logarithmic_grid(tmp_path, network, vocabulary):
    with torch.no_grad():
        network.encoder[0].feed_forward.inner.weight.zero_()
    save_model(tmp_path / "model", quantize_model(network, "log4"), vocabulary, {}, section("log4"))
    assert not load_model(tmp_path / "model").network.encoder[0].feed_forward.inner.weight.any()


def test_loading_draws_no_random_numbers_for_the_comparison(folder, network):
    """Training goes on from a loaded model as from the one that was stored."""
    torch.manual_seed(4)
    type(network)(network.architecture)
    expected = torch.get_rng_state()
    torch.manual_seed(4)
    load_model(folder)
    assert torch.equal(torch.get_rng_state(), expected)


@pytest.mark.parametrize("grid", ["float32", "int8", "int8_rowwise", "log4"])
def test_tensors_of_another_type_are_refused(tmp_path, network, vocabulary, grid):
    """A conversion would leave no fractions, or the wrong codes, and translations of any kind."""
    if grid != "float32":
        quantize_model(network, grid, None)
    save_model(
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
                load_model(tmp_path)
            else:
                message = f"model.safetensors: tensor {one} is {name}, expected {wanted}; "
                with pytest.raises(InputError, match=message):
                    load_model(tmp_path)


def test_a_model_replaces_models_alone(folder, tmp_path, network, vocabulary):
    save_model(folder, network, vocabulary, {"seed": 2})
    assert load_model(folder).config["lineage"] == {"seed": 2}
    (folder / "notes.md").write_text("mine")
    with pytest.raises(InputError, match=r"model: holds 'notes\.md', which would be deleted"):
        save_model(folder, network, vocabulary, {"seed": 3})
    (folder / "notes.md").unlink()
    (folder / "config.json").write_text('{"format": "another program\'s"}')
    with pytest.raises(InputError, match=r"holds 'config\.json', which Weebill did not write"):
        save_model(folder, network, vocabulary, {"seed": 3})


def test_integers_do_not_replace_the_float32_model_they_are_made_of(folder, tmp_path, network):
    model = load_model(folder)
    (tmp_path / "link").symlink_to(tmp_path)
    quantized = quantize_model(model.network, "int8"), model.vocabulary, {}, section("int8")
    for path in (folder, tmp_path / "nothing/../model", tmp_path / "link/model"):
        with pytest.raises(InputError, match="is the folder the model was read from; name another"):
            save_model(path, *quantized)
    assert "quantization" not in load_model(folder).config
    save_model(tmp_path / "int8", *quantized)
