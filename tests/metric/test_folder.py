"""Metric folders: whole and cut metrics written and read again, and published sizes."""

import hashlib
import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from tests import pipes
from tests.metric.small import (
    REFERENCES,
    SOURCES,
    SYSTEMS,
    make_checkpoint,
    make_encoder,
    write_sentencepiece,
)
from tests.pipes import WITHOUT_END
from weebill.errors import InputError
from weebill.files import content_hash
from weebill.hugging_face.families import prunable
from weebill.metric.folder import load_metric, save_metric
from weebill.metric.scorer import Scorer
from weebill.pruning.cut import cut


@pytest.fixture
def metric(tmp_path):
    return load_metric(make_checkpoint(tmp_path / "checkpoint", make_encoder(tmp_path / "encoder")))


def test_a_folder_is_read_as_it_was_written(tmp_path, metric):
    save_metric(tmp_path / "one", metric, {"seed": 1})
    save_metric(tmp_path / "two", load_metric(tmp_path / "one"), {"seed": 1})
    assert content_hash(tmp_path / "one") == content_hash(tmp_path / "two")
    found = Scorer(load_metric(tmp_path / "one")).score(SYSTEMS, SOURCES, REFERENCES)
    wanted = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_array_equal(found[name], wanted[name])


@pytest.mark.parametrize("kind", WITHOUT_END)
def test_no_file_of_a_metric_is_waited_for(tmp_path, metric, kind):
    save_metric(tmp_path / "one", metric, {})
    for place in (
        tmp_path / "one/model.safetensors",
        tmp_path / "checkpoint/checkpoints/model.ckpt",
    ):
        pipes.replace(place, kind)
        folder = tmp_path / place.relative_to(tmp_path).parts[0]
        with pytest.raises(InputError, match=f"{place.name}: not a plain file"), pipes.within(60):
            load_metric(folder)


@pytest.mark.parametrize("fault", ["added", "more pieces", "around a text"])
def test_ids_beyond_the_embeddings(tmp_path, metric, fault):
    """A tokenizer may have no hash: version 0.1.0 wrote none, and the encoders of checkpoints have none."""
    save_metric(tmp_path / "one", metric, {})
    rows = metric.network.encoder.config.vocab_size
    tokens = json.loads((tmp_path / "one/tokenizer.json").read_text())
    if fault == "added":
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
        tokens["added_tokens"].append({"id": rows, "content": "dog", **flags})
    elif fault == "more pieces":
        extra = [[f"x{number}", -1.0] for number in range(rows)]
        tokens["model"]["vocab"] += extra
    else:
        tokens["post_processor"]["special_tokens"]["<s>"]["ids"] = [7 * rows]
    config = json.loads((tmp_path / "one/config.json").read_text())
    del config["tokenizer"]
    (tmp_path / "one/config.json").write_text(json.dumps(config))
    for place in (tmp_path / "one", tmp_path / "encoder"):
        (place / "tokenizer.json").write_text(json.dumps(tokens))
    for folder in ("one", "checkpoint"):
        with pytest.raises(InputError, match=f"its tokenizer gives the id .*has {rows} embeddings"):
            load_metric(tmp_path / folder)


def test_minilm_too(tmp_path):
    encoder = make_encoder(tmp_path / "encoder", "MiniLM")
    metric = load_metric(make_checkpoint(tmp_path / "checkpoint", encoder, encoder_model="MiniLM"))
    save_metric(tmp_path / "one", metric, {})
    found, wanted = (
        Scorer(one).vectors(("sources", SOURCES)) for one in (load_metric(tmp_path / "one"), metric)
    )
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_a_cut_metric(tmp_path, metric):
    """The masked metric has zeros in the output maps of cut heads and neurons."""
    network = metric.network
    layers = network.encoder.encoder.layer
    with torch.no_grad():
        layers[0].attention.output.dense.weight[:, 6:12] = 0  # head 1, of 6 features
        layers[1].attention.output.dense.weight.zero_()  # all heads
        layers[2].output.dense.weight[:, 5:9] = 0
    wanted = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    cut(
        prunable(network.encoder),
        {"encoder.0.self_attention": [1], "encoder.1.self_attention": range(4)},
        {"encoder.2.feed_forward": range(5, 9)},
    )
    save_metric(tmp_path / "cut", metric, {})
    found = Scorer(load_metric(tmp_path / "cut")).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-6)


def test_folders_that_are_wrong(tmp_path, metric):
    save_metric(tmp_path / "one", metric, {})
    with pytest.raises(InputError, match="leave out --encoder"):
        load_metric(tmp_path / "one", tmp_path / "encoder")
    config = json.loads((tmp_path / "one/config.json").read_text())
    for values, match in (
        ({"format": "weebill-translation-1"}, "format 'weebill-translation-1'"),
        ({"encoder": {"model_type": "bart"}}, "encoder of type 'bart'"),
        (
            {"encoder": config["encoder"] | {"num_hidden_layers": 2, "layer_shapes": None}},
            "model.safetensors",
        ),
    ):
        (tmp_path / "one/config.json").write_text(json.dumps(config | values))
        with pytest.raises(InputError, match=match):
            load_metric(tmp_path / "one")
    (tmp_path / "one/config.json").write_text(json.dumps(config))
    (tmp_path / "one/tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="made with tokenizer"):
        load_metric(tmp_path / "one")
    del config["tokenizer"]
    (tmp_path / "one/config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="no tokenizer"):
        load_metric(tmp_path / "one")


def test_a_damaged_configuration_is_named(tmp_path, metric):
    save_metric(tmp_path / "one", metric, {})
    file = tmp_path / "one/config.json"
    config = json.loads(file.read_text())
    encoder = config["encoder"]
    for damaged, match in (
        ([], "no dictionary"),
        ({"format": config["format"]}, "no dictionary of architecture, encoder"),
        (config | {"architecture": None}, "no dictionary of architecture"),
        (config | {"encoder": None}, "no dictionary of encoder"),
        (config | {"encoder": encoder | {"hidden_size": 25}}, "25"),
        (config | {"encoder": encoder | {"pad_token_id": None}}, "pad_token_id None, expected 1"),
        (config | {"encoder": encoder | {"pad_token_id": 9}}, "pad_token_id 9, expected 1"),
        (config | {"encoder": encoder | {"model_type": ["bert"]}}, r"encoder of type \['bert'\]"),
        (
            # Building so many layers would take half a minute.
            config | {"encoder": encoder | {"num_hidden_layers": 7285}},
            "num_hidden_layers is 7285, but the weights are only",
        ),
        (config | {"encoder": encoder | {"layer_shapes": {"heads": 3}}}, "layer_shapes"),
        (config | {"encoder": encoder | {"layer_shapes": [3]}}, "layer_shapes"),
        (
            config | {"encoder": encoder | {"layer_shapes": {"heads": {"x": 1}}}},
            "layer_shapes.* x ",
        ),
        (config | {"architecture": config["architecture"] | {"layer": 9}}, "layer 9"),
    ):
        file.write_text(json.dumps(damaged))
        with pytest.raises(InputError, match=rf"one/config\.json: .*{match}") as caught:
            load_metric(tmp_path / "one")
        assert "\n" not in str(caught.value)


def test_a_tokenizer_that_lacks_its_special_piece(tmp_path, metric):
    """Rust would panic at the first text, and Python's error for this is not an Exception."""
    save_metric(tmp_path / "one", metric, {})
    file, config = tmp_path / "one/tokenizer.json", tmp_path / "one/config.json"
    pieces = {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}
    template = [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    rules = {"type": "TemplateProcessing", "single": template, "pair": template}
    written = json.loads(file.read_text())
    values = json.loads(config.read_text())
    del values["tokenizer"]
    config.write_text(json.dumps(values))
    for special, sound in ((pieces, True), ({"<s>x": pieces["<s>"]}, False)):
        file.write_text(
            json.dumps(written | {"post_processor": rules | {"special_tokens": special}})
        )
        if sound:
            load_metric(tmp_path / "one")
        else:
            with pytest.raises(InputError, match=r"tokenizer\.json: no tokenizer \(no entry"):
                load_metric(tmp_path / "one")


def test_another_tokenizer_of_the_same_size_is_refused(tmp_path, metric):
    """Fifty entries change places, so they would get other vectors; the number of entries stays."""
    folder = tmp_path / "one"
    save_metric(folder, metric, {})
    file, config = folder / "tokenizer.json", json.loads((folder / "config.json").read_text())
    wanted = hashlib.sha256(file.read_bytes()).hexdigest()
    assert config["tokenizer"] == {"sha256": wanted}
    values = json.loads(file.read_text())
    values["model"]["vocab"][10:60] = values["model"]["vocab"][59:9:-1]
    file.write_text(json.dumps(values))
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    message = f"one: made with tokenizer {wanted[:8]}…, but tokenizer.json is {found[:8]}…; restore"
    with pytest.raises(InputError, match=message):
        load_metric(folder)
    write_sentencepiece(folder)  # replaces tokenizer.json
    with pytest.raises(InputError, match=r"tokenizer\.json: no such file; restore it"):
        load_metric(folder)


def test_a_folder_without_the_hash_is_read_and_a_damaged_one_named(tmp_path, metric):
    """Version 0.1.0 did not write the tokenizer's hash."""
    save_metric(tmp_path / "one", metric, {})
    wanted = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    file = tmp_path / "one/config.json"
    config = json.loads(file.read_text())
    for damaged in (None, "abc", {}, {"sha256": 7}, [1]):
        file.write_text(json.dumps({**config, "tokenizer": damaged}))
        with pytest.raises(InputError, match=r"one(/config\.json)?: (tokenizer |made with)"):
            load_metric(tmp_path / "one")
    del config["tokenizer"]
    file.write_text(json.dumps(config))
    found = Scorer(load_metric(tmp_path / "one")).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_array_equal(found[name], wanted[name])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (torch.int64, "I64"),
        (torch.bool, "BOOL"),
        (torch.complex64, "C64"),
        (torch.float16, "F16"),
        (torch.bfloat16, "BF16"),
        (torch.float64, "F64"),
        (torch.uint8, "U8"),
    ],
)
def test_tensors_of_another_type_are_refused(tmp_path, metric, kind, name):
    """All tensors have another type, as after a conversion, or only one tensor does."""
    save_metric(tmp_path / "one", metric, {})
    file = tmp_path / "one/model.safetensors"
    tensors = load_file(file)
    last = sorted(tensors)[-1]
    for changed in (
        {key: value.to(kind) for key, value in tensors.items()},
        tensors | {last: tensors[last].to(kind)},
    ):
        save_file(changed, file)
        with pytest.raises(InputError, match=f"{file}: tensor .* is {name}, expected F32; "):
            load_metric(tmp_path / "one")


def test_a_metric_replaces_metrics_alone(tmp_path, metric):
    for _ in range(2):
        save_metric(tmp_path / "one", metric, {})
    (tmp_path / "one/scores").mkdir()
    with pytest.raises(InputError, match=r"one: holds 'scores', which would be deleted"):
        save_metric(tmp_path / "one", metric, {})
