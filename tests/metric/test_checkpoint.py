"""Checkpoints of unbabel-comet: refused files, and code that never runs."""

import json
import pickle
import random
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
import safetensors.torch
import torch
import yaml
from huggingface_hub import constants

from tests.metric.small import (
    hyperparameters,
    make_checkpoint,
    make_encoder,
    random_state,
    write_checkpoint,
)
from weebill.errors import InputError
from weebill.hugging_face.loading import library_alone
from weebill.metric.checkpoint import find_encoder
from weebill.metric.folder import load_metric


@pytest.fixture
def encoder(tmp_path):
    return make_encoder(tmp_path / "encoder")


@pytest.fixture
def checkpoint(tmp_path, encoder):
    return make_checkpoint(tmp_path / "metric", encoder)


def refused(path, match, **options):
    with pytest.raises(InputError, match=match) as caught:
        load_metric(path, **options)
    assert "\n" not in str(caught.value)


class Payload:
    """Object that creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("place", ["hyper_parameters", "state_dict", "callbacks"])
def test_a_payload_is_not_run(tmp_path, checkpoint, place):
    file, made = checkpoint / "checkpoints/model.ckpt", tmp_path / "made"
    content = torch.load(file, weights_only=True)
    content[place]["payload"] = Payload(made)
    torch.save(content, file)
    refused(checkpoint, r"model\.ckpt: holds more than tensors and plain values \(\S*open\)")
    assert not made.exists()
    torch.load(file, weights_only=False)
    assert made.exists()  # unpickling would have made the file


def test_a_bare_pickle_is_not_run(tmp_path, checkpoint):
    made = tmp_path / "made"
    (checkpoint / "checkpoints/model.ckpt").write_bytes(pickle.dumps(Payload(made), protocol=2))
    refused(checkpoint, "holds more than tensors and plain values")
    assert not made.exists()


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:9f86d081884c7d65\nsize 2277430715\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        LFS,
        b"<!DOCTYPE html>\n<html><body>404</body></html>\n",
        safetensors.torch.save({"weight": torch.zeros(3)}),
        b"PK\x05\x06" + bytes(18),  # an empty zip archive
    ],
    ids=["empty", "lfs", "html", "safetensors", "zip"],
)
def test_a_file_that_is_no_checkpoint(checkpoint, content):
    """Messages do not call harmless files dangerous, and do not show torch's advice to run a pickle."""
    (checkpoint / "checkpoints/model.ckpt").write_bytes(content)
    with pytest.raises(InputError, match=r"model\.ckpt: no checkpoint, damaged") as caught:
        load_metric(checkpoint)
    assert "weights_only" not in str(caught.value) and "more than tensors" not in str(caught.value)


def test_a_damaged_pickle_is_no_traceback(tmp_path, checkpoint):
    """A change of any byte of data.pkl is harmless, or an error names the file."""
    file, choice = checkpoint / "checkpoints/model.ckpt", random.Random(1)
    with zipfile.ZipFile(file) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    (name,) = (one for one in entries if one.endswith("/data.pkl"))
    refusals = 0
    for _ in range(50):
        damaged = bytearray(entries[name])
        damaged[choice.randrange(len(damaged))] = choice.randrange(256)
        with zipfile.ZipFile(file, "w") as archive:
            for entry, content in (entries | {name: bytes(damaged)}).items():
                archive.writestr(entry, content)
        try:
            load_metric(checkpoint)
        except InputError as error:
            assert str(checkpoint) in str(error) and "weights_only" not in str(error)
            refusals += 1
    assert refusals > 25


class ModelCheckpoint:
    """Lightning's callback; in old checkpoints, its state has the class as its name."""


ModelCheckpoint.__module__ = "pytorch_lightning.callbacks.model_checkpoint"


def test_callbacks_named_by_their_class(checkpoint, monkeypatch):
    import sys
    from types import ModuleType

    module = ModuleType(ModelCheckpoint.__module__)
    module.ModelCheckpoint = ModelCheckpoint
    file = checkpoint / "checkpoints/model.ckpt"
    content = torch.load(file, weights_only=True)
    content["callbacks"] = {ModelCheckpoint: {"best_model_score": torch.tensor(0.5)}}
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        torch.save(content, file)
    assert load_metric(checkpoint).network.architecture.pool == "avg"


def test_an_encoder_of_more_layers_than_the_checkpoint_has_tensors(checkpoint, encoder):
    file = encoder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"num_hidden_layers": 7285}))
    refused(
        checkpoint, r"config\.json: num_hidden_layers is 7285, but the weights", encoder=encoder
    )


@pytest.mark.parametrize(
    ("values", "match"),
    [
        (
            {"class_identifier": "ranking"},
            "class_identifier 'ranking', expected regression_metric.*",
        ),
        ({"class_identifier": None}, "class_identifier None"),
        (
            {"encoder_model": "XLM-V"},
            "encoder_model 'XLM-V': this encoder is not read; expected XLM",
        ),
        (
            {"class_identifier": "unified_metric", "input_segments": ["mt"]},
            r"input_segments: \['mt'\]",
        ),
        ({"class_identifier": "xcomet_metric", "word_layer": "top"}, "word_layer: 'top'"),
        ({"layer_norm": "false"}, "layer_norm: 'false', expected true or false"),
        (
            {"class_identifier": "unified_metric", "word_level_training": "False"},
            "word_level_training: 'False', expected true or false",
        ),
    ],
)
def test_other_kinds_of_models(checkpoint, monkeypatch, values, match):
    """Other kinds of models are refused by hparams.yaml, before weights are read or fetched."""
    file = checkpoint / "hparams.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | values))
    (checkpoint / "checkpoints/model.ckpt").write_bytes(b"never read")
    refused(checkpoint, rf"hparams\.yaml: {match}")

    def fetched(name, revision, allow_patterns):
        assert allow_patterns == ["hparams.yaml"]
        return checkpoint

    monkeypatch.setattr("weebill.metric.checkpoint.snapshot_download", fetched)
    refused("Unbabel/another", rf"hparams\.yaml: {match}")


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"pool": "average"}, "pool: 'average', expected avg, cls, max, default"),
        ({"layer": 9}, "layer 9: the encoder has states 0 to 3"),
        ({"layer": -1}, "layer: -1, expected 'mix'"),
        ({"layer_transformation": "sparsmax"}, "did you mean 'sparsemax'"),
        ({"hidden_sizes": 300}, "hidden_sizes: 300, expected a list"),
        ({"hidden_sizes": [8, 10**30]}, "expected 16,384 at most each, and 268,435,456 weights"),
        ({"hidden_sizes": [16384] * 3}, "expected 16,384 at most each, and 268,435,456 weights"),
        ({"activations": "Swish"}, "activations: 'swish', expected tanh"),
        ({"encoder_model": ["BERT"]}, r"encoder_model \['BERT'\]: this encoder is not read"),
        ({"class_identifier": ["regression_metric"]}, r"class_identifier \['regression_metric'\]"),
        ({"pretrained_model": None}, "pretrained_model None, expected"),
        ({"pretrained_model": 3}, "pretrained_model 3, expected"),
        ({"pretrained_model": "no-such/encoder"}, "no-such/encoder: no such folder.*--encoder"),
    ],
)
def test_hyperparameters_that_are_wrong(tmp_path, encoder, monkeypatch, values, match):
    monkeypatch.setattr("weebill.metric.checkpoint.snapshot_download", offline)
    good = hyperparameters(encoder)
    refused(write_checkpoint(tmp_path / "metric", good | values, random_state(good)), match)


def offline(*_, **__):
    raise ConnectionError("no network")


def test_a_name_that_is_not_here(monkeypatch):
    monkeypatch.setattr("weebill.metric.checkpoint.snapshot_download", offline)
    refused("Unbabel/wmt22-comet-da", r"the Hugging Face hub does not give it \(no network\)")


def test_a_name_on_the_hub(checkpoint, monkeypatch):
    asked = []

    def found(name, revision, allow_patterns):
        asked.append((name, revision, allow_patterns))
        return checkpoint

    monkeypatch.setattr("weebill.metric.checkpoint.snapshot_download", found)
    metric = load_metric("Unbabel/wmt22-comet-da@1234abcd")
    assert metric.name == "Unbabel/wmt22-comet-da@1234abcd"
    files = [["hparams.yaml"], ["hparams.yaml", "checkpoints/*.ckpt"]]
    assert asked == [("Unbabel/wmt22-comet-da", "1234abcd", some) for some in files]


def test_a_name_is_fetched_while_another_thread_reads_a_model(checkpoint, monkeypatch):
    """Models are read without the network, by a switch that the library has for all threads."""
    offline = []

    def found(*_, **__):
        offline.append(constants.HF_HUB_OFFLINE)
        return checkpoint

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("weebill.metric.checkpoint.snapshot_download", found)
    with ThreadPoolExecutor(1) as threads:
        with library_alone():
            fetching = threads.submit(load_metric, "Unbabel/wmt22-comet-da")
            wait([fetching], timeout=0.2)
        fetching.result()
    assert offline == [False, False]


def test_the_encoder_by_its_folder(tmp_path, encoder):
    values = hyperparameters(encoder)
    elsewhere = values | {"pretrained_model": "no-such/encoder"}
    folder = write_checkpoint(tmp_path / "metric", elsewhere, random_state(values))
    assert load_metric(folder, encoder).tokenizer.pad == 1
    refused(folder, "no such folder; name that of the encoder", encoder=tmp_path / "none")
    refused(
        folder,
        "tensors missing|size mismatch",
        encoder=make_encoder(tmp_path / "wide", hidden_size=32),
    )
    refused(
        folder,
        "model_type 'bert', expected 'xlm-roberta'",
        encoder=make_encoder(tmp_path / "b", "BERT"),
    )


def test_the_file_that_names_the_encoder_is_told(tmp_path, encoder, monkeypatch):
    """Like unbabel-comet, we read the encoder's name from the .ckpt; an edited hparams.yaml changes nothing."""
    monkeypatch.setattr("weebill.metric.checkpoint.snapshot_download", offline)
    values = hyperparameters(encoder)
    named = values | {"pretrained_model": "no-such/encoder"}
    folder = write_checkpoint(tmp_path / "metric", named, random_state(values))
    (folder / "hparams.yaml").write_text(yaml.safe_dump(values))
    refused(folder, r"model\.ckpt: no-such/encoder: no such folder.*--encoder")


def test_the_file_says_more_than_the_yaml(tmp_path, encoder):
    """Like unbabel-comet 2.2.7, we use the .ckpt's hyperparameters, except the kind and a patched transformation."""
    values = hyperparameters(encoder, layer_transformation="sparsemax")
    folder = write_checkpoint(tmp_path / "metric", values, random_state(values))
    yaml_file = folder / "hparams.yaml"
    yaml_file.write_text(yaml.safe_dump(values | {"pool": "max"}))
    architecture = load_metric(folder).network.architecture
    assert (architecture.pool, architecture.layer_transformation) == ("avg", "sparsemax")
    yaml_file.write_text(yaml.safe_dump(values | {"layer_transformation": "sparsemax_patch"}))
    assert load_metric(folder).network.architecture.layer_transformation == "softmax"


def test_files_that_are_missing_or_damaged(tmp_path, checkpoint):
    file = checkpoint / "checkpoints/model.ckpt"
    assert load_metric(file).sha256 == load_metric(checkpoint).sha256
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    refused(checkpoint, r"model\.ckpt: no checkpoint, damaged")
    torch.save({"weights": 1}, file)
    refused(checkpoint, "no state_dict of tensors")
    torch.save({"state_dict": {3: torch.zeros(2)}}, file)
    refused(checkpoint, "no state_dict of tensors")
    content = {"state_dict": {"estimator.ff.0.weight": torch.zeros(2, 2)}}
    torch.save(content, file)
    refused(checkpoint, "model.ckpt: .*(missing|mismatch|shape)")
    file.write_bytes(whole)
    (checkpoint / "checkpoints/last.ckpt").write_bytes(whole)
    refused(checkpoint, re.escape("found last.ckpt, model.ckpt; name the file"))
    laughs = "a0: &a0 x\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(70))
    for text in ("a: !!python/object/apply:os.getcwd []", "a: 2024-13-45", "[" * 1000, laughs):
        (checkpoint / "hparams.yaml").write_text(text)
        refused(file, "not plain YAML")
    (checkpoint / "hparams.yaml").unlink()
    refused(file, r"no hparams\.yaml")
    refused(tmp_path, "neither a metric folder")
    refused(tmp_path / "none.ckpt", "no such file")


def test_an_encoder_without_its_pooler(tmp_path):
    folder = make_encoder(tmp_path / "encoder")
    encoder, place = find_encoder("XLM-RoBERTa", str(folder))
    assert place == folder
    assert encoder.pooler is None and encoder.config.hidden_size == 24


@pytest.mark.parametrize("family", ["XLM-RoBERTa", "MiniLM"])
@pytest.mark.parametrize(
    "values",
    [
        {"hidden_size": "abc"},
        {"hidden_size": 25},  # not divisible by the heads
        {"hidden_act": "foo"},
        {"num_attention_heads": 0},
        {"pad_token_id": 999},  # there is no such piece
        {"vocab_size": -1},
        {"num_hidden_layers": None},
    ],
    ids=lambda values: "-".join(values),
)
def test_values_that_are_damaged(tmp_path, family, values):
    file = make_encoder(tmp_path / "encoder", family) / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))
    with pytest.raises(InputError, match=r"encoder/config\.json: .*fetch it again") as caught:
        find_encoder(family, str(tmp_path / "encoder"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("values", [[], None, "bert", {}, {"model_type": ["bert"]}])
def test_a_configuration_that_is_none(tmp_path, values):
    (tmp_path / "config.json").write_text(json.dumps(values))
    told = "no dictionary|name the folder of the checkpoint's own"
    with pytest.raises(InputError, match=rf"config\.json: .*({told})"):
        find_encoder("BERT", str(tmp_path))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [torch.int8, torch.int64, torch.bool, torch.complex64])
def test_tensors_without_fractions_are_no_weights(tmp_path, encoder, kind, stream):
    """Converted, they would give the same score to every sentence."""
    values = hyperparameters(encoder)
    state = {name: value.to(kind) for name, value in random_state(values).items()}
    path = write_checkpoint(tmp_path / "metric", values, state)
    with pytest.raises(InputError, match=rf"model\.ckpt: tensor \S+ is {kind}, expected numbers"):
        load_metric(path, stream=stream)


def test_weights_of_states_are_one_number_each(tmp_path, encoder):
    values = hyperparameters(encoder)
    state = random_state(values)
    expected = load_metric(write_checkpoint(tmp_path / "plain", values, state)).network.mix()
    name = "layerwise_attention.scalar_parameters.2"
    scalar = {**state, name: state[name].squeeze()}
    found = load_metric(write_checkpoint(tmp_path / "scalar", values, scalar)).network.mix()
    assert torch.equal(found, expected)
    wide = {key: value for key, value in state.items() if not key.endswith("parameters.3")}
    wide[name] = torch.cat([state[name]] * 2)
    refused(write_checkpoint(tmp_path / "wide", values, wide), "another encoder's")


def test_a_tuple_in_the_hyperparameters(checkpoint):
    """Lightning writes tuples of Python so, and unbabel-comet reads them."""
    expected = load_metric(checkpoint).network.state_dict()
    file = checkpoint / "hparams.yaml"
    text = yaml.dump(yaml.safe_load(file.read_text()) | {"hidden_sizes": (32, 16)})
    assert "!!python/tuple" in text
    file.write_text(text)
    found = load_metric(checkpoint).network.state_dict()
    assert all(torch.equal(found[name], value) for name, value in expected.items())
