"""Model folders: exact round trip, equal bytes, and errors that name what is wrong."""

import json

import pytest
import torch

from goldcrest.errors import InputError
from goldcrest.translation.folder import count_parameters, load_model, save_model


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


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda config: [config], "format None, expected 'goldcrest-translation-1'"),
        (lambda config: config.pop("vocabulary") and config, "damaged, .*KeyError: 'vocabulary'"),
        (lambda config: config.pop("architecture") and config, "damaged, .*KeyError: 'architecture'"),
        (lambda config: config["architecture"].update(ears=2) or config, "damaged, .*'ears'"),
        (lambda config: config["architecture"]["encoder"][0].update(ears=2) or config, "damaged, .*'ears'"),
        (lambda config: config["architecture"].update(vocabulary=7) or config, "of 7 pieces, but vocab.spm has"),
    ],
)  # fmt: skip
def test_a_damaged_configuration_is_named(folder, changed, message):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(changed(config)))
    with pytest.raises(InputError, match=f"config.json: .*{message}"):
        load_model(folder)


def test_not_a_model(tmp_path):
    with pytest.raises(InputError, match="not a model folder"):
        load_model(tmp_path)


def test_another_shape_is_named(folder):
    config = json.loads((folder / "config.json").read_text())
    config["architecture"]["encoder"][0]["feed_forward"] = 32
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"encoder\.0\.feed_forward"):
        load_model(folder)
