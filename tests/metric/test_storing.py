"""Encoders with int8 weights on disk, and encoders read layer by layer."""

import json
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from tests.metric.small import (
    REFERENCES,
    SOURCES,
    SYSTEMS,
    hyperparameters,
    make_checkpoint,
    make_encoder,
    random_state,
    write_checkpoint,
)
from weebill.errors import InputError
from weebill.files import GIB, write_json
from weebill.metric.checkpoint import find_encoder
from weebill.metric.encoding import RaggedEncoder
from weebill.metric.folder import load_metric, save_metric
from weebill.metric.network import MetricNetwork, count_numbers
from weebill.metric.scorer import Scorer
from weebill.metric.storing import entries

XL = {"encoder_model": "XLM-RoBERTa-XL"}


def scores(metric, precision="float32", **options):
    found = Scorer(metric, precision, batch_pieces=90, **options)
    return np.stack([*found.score(SYSTEMS, SOURCES, REFERENCES).values()])


@pytest.fixture
def checkpoint(tmp_path):
    return make_checkpoint(tmp_path / "model", make_encoder(tmp_path / "encoder"))


def test_int8_weights_on_disk(tmp_path, checkpoint):
    whole = load_metric(checkpoint)
    save_metric(tmp_path / "float32", whole, {})
    streamed = load_metric(checkpoint, stream=True)
    save_metric(tmp_path / "int8", streamed, {}, entries(streamed.network))
    metric = load_metric(tmp_path / "int8")
    assert count_numbers(metric.network) == count_numbers(whole.network)
    tensors, exact = (
        load_file(tmp_path / name / "model.safetensors") for name in ("int8", "float32")
    )
    assert len([one for one in tensors if one.endswith(".codes")]) == 3 * 6 + 1
    for name in [one for one in tensors if one.endswith(".codes")]:
        weight = exact[name.replace(".codes", ".weight")].double()
        held = tensors[name].double() / tensors[name.replace(".codes", ".scale")].double()[:, None]
        step = weight.abs().amax(1, keepdim=True) / 127
        assert ((weight - held).abs() <= step / 2 * 1.001).all()
    # The embedding table is rounded too; `precision` alone does not round it.
    np.testing.assert_allclose(scores(metric, "int8"), scores(whole), atol=0.01)
    np.testing.assert_allclose(scores(metric), scores(whole), atol=0.01)
    save_metric(tmp_path / "again", metric, {})
    np.testing.assert_array_equal(scores(load_metric(tmp_path / "again")), scores(metric))
    with pytest.raises(InputError, match="int8 already"):
        list(entries(metric.network))


def test_int8_embeddings_stay_for_other_devices(tmp_path, checkpoint):
    """A scorer on a GPU, here a device without data, takes nothing away from one on the processor."""
    whole = load_metric(checkpoint)
    save_metric(tmp_path / "int8", whole, {}, entries(whole.network))
    metric = load_metric(tmp_path / "int8")
    wanted = scores(metric)
    RaggedEncoder(metric.network.encoder, torch.float32, 1, torch.device("meta"))
    np.testing.assert_array_equal(scores(metric), wanted)


@pytest.mark.parametrize("family", ["XLM-RoBERTa", "XLM-RoBERTa-XL"])
def test_streamed_layers_give_the_same_scores(tmp_path, family):
    encoder, values = make_encoder(tmp_path / "encoder", family), {"encoder_model": family}
    model = make_checkpoint(tmp_path / "model", encoder, **values)
    whole = load_metric(model)
    for precision in ("float32", "bfloat16", "int8"):
        wanted = scores(whole, precision)
        found = scores(load_metric(model, stream=True), precision, stream=True)
        np.testing.assert_allclose(found, wanted, atol=0 if precision == "float32" else 0.01)
    save_metric(tmp_path / "folder", whole, {})
    found = scores(load_metric(tmp_path / "folder", stream=True), stream=True)
    np.testing.assert_array_equal(found, scores(whole))
    save_metric(tmp_path / "int8", whole, {}, entries(whole.network))
    wanted = scores(load_metric(tmp_path / "int8"), "int8")
    found = scores(load_metric(tmp_path / "int8", stream=True), "int8", stream=True)
    np.testing.assert_array_equal(found, wanted)


def test_streamed_half_precision(tmp_path):
    """Weights keep the file's type until their layer is packed."""
    values = hyperparameters(make_encoder(tmp_path / "encoder"))
    state = {name: value.half() for name, value in random_state(values).items()}
    model = write_checkpoint(tmp_path / "model", values, state)
    streamed = load_metric(model, stream=True)
    assert streamed.network.encoder.embeddings.word_embeddings.weight.dtype == torch.float16
    np.testing.assert_array_equal(scores(streamed, stream=True), scores(load_metric(model)))


def anonymous() -> int:
    """Return this process's memory in bytes, without mapped files, which the system can drop."""
    return 1024 * int(re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def peak_of(work) -> int:
    """Return the peak of the anonymous memory that `work` adds."""
    begin, most, done = anonymous(), [0], threading.Event()

    def watch():
        while not done.is_set():
            most[0] = max(most[0], anonymous())
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return most[0] - begin


def write_xxl(folder: Path, layers: int) -> Path:
    """Write a metric folder with XLM-R-XXL's widths; the first layer is random, the rest of the file is a hole."""
    encoder = make_encoder(
        folder / "encoder",
        "XLM-RoBERTa-XL",
        hidden_size=4096,
        num_hidden_layers=layers,
        num_attention_heads=32,
        intermediate_size=16_384,
        max_position_embeddings=514,
    )
    small = make_checkpoint(folder / "small", make_encoder(folder / "xl", "XLM-RoBERTa-XL"), **XL)
    metric = load_metric(small)
    empty, _ = find_encoder("XLM-RoBERTa-XL", str(encoder), meta=True)
    empty.config.vocab_size = 250_880
    empty.embeddings.word_embeddings = nn.Embedding(250_880, 4096, device="meta")
    with torch.device("meta"):
        network = MetricNetwork(metric.network.architecture, empty)
    save_metric(folder / "made", metric, {})
    header, begin, real = {}, 0, []
    config = json.loads((folder / "made/config.json").read_text())
    config["encoder"] = empty.config.to_dict()
    write_json(folder / "made/config.json", config)
    for name, value in network.state_dict().items():
        end = begin + 4 * value.numel()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [begin, end]}
        if "encoder.layer.0." in name or not name.startswith("encoder."):
            real.append((name, begin, value.shape))
        begin = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "made/model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        start = file.tell()
        draw = torch.Generator().manual_seed(1)
        for _, place, shape in real:
            file.seek(start + place)
            file.write((0.02 * torch.randn(shape, generator=draw)).numpy().tobytes())
        file.truncate(start + begin)
    return folder / "made"


@pytest.mark.workflows
def test_memory_of_a_streamed_encoder(tmp_path):
    """With XLM-R-XXL's layers of 805 MB, the peak is that of one packed layer, for any number of layers."""
    folder = write_xxl(tmp_path, 3)
    assert (folder / "model.safetensors").stat().st_size > 6 * GIB

    found = []
    peak = peak_of(lambda: found.append(scores(load_metric(folder, stream=True), stream=True)))
    assert np.isfinite(found[0]).all()
    assert peak < 2.5 * GIB, f"{peak / GIB:.2f} GiB"
