"""Model folders: exact round trip, equal bytes, and errors that name the fault."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from weebill.errors import InputError
from weebill.quantization.files import section
from weebill.quantization.modules import quantize_model
from weebill.translation.model.folder import count_parameters, save_model
from weebill.translation.model.packed_folder import load_any_model, save_any_model


@pytest.fixture
def folder(tmp_path, network, vocabulary):
    save_model(tmp_path / "model", network, vocabulary, {"seed": 1})
    return tmp_path / "model"


def test_round_trip(folder, network):
    model = load_any_model(folder)
    assert model.network.architecture == network.architecture
    assert model.config["lineage"] == {"seed": 1}
    assert model.config["parameters"] == count_parameters(network)
    assert model.network.output.weight is model.network.embedding.weight
    for name, value in network.state_dict().items():
        assert torch.equal(value, model.network.state_dict()[name]), name


def test_a_guided_head_is_recorded(folder, tmp_path, network, vocabulary):
    assert "guided_head" not in load_any_model(folder).config
    network.guided = True
    save_model(tmp_path / "guided", network, vocabulary, {"seed": 1})
    network.guided = False
    found = load_any_model(tmp_path / "guided")
    assert found.config["guided_head"] is True and found.network.guided


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
        load_any_model(folder)


def test_another_vocabulary_is_named(folder):
    config = json.loads((folder / "config.json").read_text())
    config["vocabulary"]["sha256"] = "0" * 64
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="made with vocabulary 00000000…"):
        load_any_model(folder)


@pytest.fixture
def folder_of_two(tmp_path, network_of_two, pair):
    save_model(tmp_path / "two", network_of_two, pair, {"seed": 1})
    return tmp_path / "two"


def test_two_vocabularies_are_kept_with_both_hashes(folder_of_two, network_of_two, pair):
    config = json.loads((folder_of_two / "config.json").read_text())
    source, target = ({"sha256": v.sha256, "pieces": len(v)} for v in (pair.source, pair.target))
    assert config["vocabulary"] == {**target, "source": source}
    model = load_any_model(folder_of_two)
    assert model.vocabulary.sha256 == pair.sha256
    for name, value in network_of_two.state_dict().items():
        assert torch.equal(value, model.network.state_dict()[name]), name
    save_model(folder_of_two, model.network, model.vocabulary, {"seed": 2})  # may be replaced


@pytest.mark.parametrize("grid", ["int8", "log4"])
def test_two_tables_are_packed(tmp_path, network_of_two, pair, grid):
    quantize_model(network_of_two, grid)
    save_any_model(tmp_path / grid, network_of_two, pair, {}, section(grid))
    network = load_any_model(tmp_path / grid).network
    for table in ("embedding", "source_embedding"):
        found = getattr(network, table).weight
        assert torch.equal(found, getattr(network_of_two, table).weight) and found.std() > 0


def test_another_source_vocabulary_is_named(folder_of_two, pair):
    (folder_of_two / "source.spm").write_bytes(pair.target.path.read_bytes())
    with pytest.raises(InputError, match=r"made with vocabulary .* but source\.spm is"):
        load_any_model(folder_of_two)
    (folder_of_two / "source.spm").unlink()
    with pytest.raises(InputError, match=r"source\.spm: no such vocabulary"):
        load_any_model(folder_of_two)


def _within(*keys, **values):
    """Return a change of config.json: new values below a path of keys."""

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
        (lambda _config: "text", "format None.*; another program's model is not read here, name a student"),
        (lambda _config: {"model_type": "bart"}, "; Hugging Face's 'bart' is not read here"),
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
        load_any_model(folder)


def test_not_a_model(tmp_path):
    with pytest.raises(InputError, match="not a model folder"):
        load_any_model(tmp_path)


@pytest.mark.parametrize("width", [32, 2**20])
def test_another_shape_is_named(folder, width):
    _damage(folder, _within("architecture", "encoder", 0, feed_forward=width))
    with pytest.raises(InputError, match=r"model\.safetensors: encoder\.0\.feed_forward"):
        load_any_model(folder)


def test_widths_that_the_tensors_do_not_have_take_no_memory(folder):
    """Allocating a layer of these widths would take 16 TiB."""
    _damage(folder, _within("architecture", embedding=2**14))
    _damage(folder, _within("architecture", "encoder", 0, heads=2**14, head_size=2**14))
    with pytest.raises(InputError, match=r"by the architecture .*16384"):
        load_any_model(folder)


def test_tensors_too_many_to_name_are_counted(folder):
    (folder / "model.safetensors").unlink()
    save_file({"other": torch.zeros(1)}, folder / "model.safetensors")
    message = r"missing \['embedding.weight', .* and \d+ more, not expected \['other'\]"
    with pytest.raises(InputError, match=message):
        load_any_model(folder)


@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("name", ["output.bias", "encoder.1.attention_norm.weight"])
def test_a_model_that_has_diverged_is_refused(folder, name, number):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors[name][-1] = number
    save_file(tensors, path)
    message = rf"model\.safetensors: NaN or infinity in \['{name}'\]; the model has diverged"
    with pytest.raises(InputError, match=message):
        load_any_model(folder)


def test_loading_draws_no_random_numbers_for_the_comparison(folder, network):
    """Loading draws the random numbers of one new network and no more, so trainings from it stay repeatable."""
    torch.manual_seed(4)
    type(network)(network.architecture)
    expected = torch.get_rng_state()
    torch.manual_seed(4)
    load_any_model(folder)
    assert torch.equal(torch.get_rng_state(), expected)


def test_a_model_replaces_models_alone(folder, tmp_path, network, vocabulary):
    save_model(folder, network, vocabulary, {"seed": 2})
    assert load_any_model(folder).config["lineage"] == {"seed": 2}
    (folder / "notes.md").write_text("mine")
    with pytest.raises(InputError, match=r"model: holds 'notes\.md', which would be deleted"):
        save_model(folder, network, vocabulary, {"seed": 3})
    (folder / "notes.md").unlink()
    (folder / "config.json").write_text('{"format": "another program\'s"}')
    with pytest.raises(InputError, match=r"holds 'config\.json', which Weebill did not write"):
        save_model(folder, network, vocabulary, {"seed": 3})
