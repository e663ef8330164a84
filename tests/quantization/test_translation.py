"""Quantized translators in model folders: their files, round trips, and training under quantization."""

import copy
import dataclasses
import json
import random
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import weebill
from weebill.configuration.zoo_file import load_zoo
from weebill.corpus.table import write_table
from weebill.errors import InputError
from weebill.quantization.calibration import activation_scales, record_ranges
from weebill.quantization.files import section
from weebill.quantization.modules import (
    fake_quantization,
    pack_model,
    quantizable_linears,
    quantize_model,
)
from weebill.translation.model.folder import save_model
from weebill.translation.model.network import Translator
from weebill.translation.model.packed_folder import load_any_model, save_any_model
from weebill.translation.model.vocabulary import train_vocabulary
from weebill.translation.search import greedy_translations
from weebill.translation.training.trainer import TrainingConfig, train
from weebill.workflow.import_closure import NEUTRAL, read_project
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.vocabulary import Vocabulary

LAYER = LayerShape(heads=4, head_size=16, feed_forward=256)
CUT = LayerShape(heads=0, head_size=16, feed_forward=250)  # no heads, an odd width


@pytest.fixture(scope="module")
def sentences():
    generator = random.Random(5)
    words = ["".join(generator.choices("abcdefgh", k=generator.randint(2, 6))) for _ in range(200)]
    return [" ".join(generator.choices(words, k=8)) for _ in range(400)]


@pytest.fixture(scope="module")
def vocabulary(sentences, tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.spm"
    train_vocabulary(sentences, path, 150, seed=1)
    return Vocabulary(path)


def translator(vocabulary, kind="ssru", cut=False):
    encoder = (LAYER, CUT if cut else LAYER)
    decoder = dataclasses.replace(LAYER, self_heads=4 if kind == "attention" else 0)
    torch.manual_seed(6)
    return Translator(Architecture(len(vocabulary), 64, encoder, (decoder,), 2, kind)).eval()


def scales_of(network, vocabulary, sentences):
    ranges = record_ranges(network, lambda: greedy_translations(network, vocabulary, sentences))
    return activation_scales(ranges, "mean-of-maxima")


@pytest.mark.parametrize(
    ("grid", "bytes_each", "kind"),
    [("int8", 1, "ssru"), ("int8_rowwise", 1, "attention"), ("log4", 0.5, "ssru")],
)
def test_a_quantized_folder_comes_back_bit_for_bit(
    tmp_path, vocabulary, sentences, grid, bytes_each, kind
):
    network = translator(vocabulary, kind, cut=True)
    save_model(tmp_path / "float32", network, vocabulary, {})
    weights = sum(p.numel() for p in network.parameters() if p.dim() == 2)
    others = sum(p.numel() for p in network.parameters() if p.dim() != 2)
    scales = scales_of(network, vocabulary, sentences[:3]) if grid != "log4" else None
    quantize_model(network, grid, scales)
    formula = "mean-of-maxima" if scales else None
    save_any_model(tmp_path / grid, network, vocabulary, {}, section(grid, formula))

    with safe_open(tmp_path / grid / "model.safetensors", "pt") as file:
        stored = sum(file.get_tensor(name).nbytes for name in file.keys())  # noqa: SIM118
        codes = [n for n in file.keys() if n.endswith(".codes")]  # noqa: SIM118
    rows = sum(v.numel() for n, v in network.state_dict().items() if n.endswith("quantized.scale"))
    extra = 4 * (rows + len(scales or ()))  # one scale per weight or row, one per input
    assert stored == weights * bytes_each + 4 * others + extra
    size = (tmp_path / grid / "model.safetensors").stat().st_size
    assert stored < size < stored + 10_000  # with the header
    assert "embedding.codes" in codes
    assert "output.codes" not in codes  # it is shared with the embedding

    loaded = load_any_model(tmp_path / grid).network
    assert loaded.architecture == network.architecture
    expected = network.state_dict()
    assert {n: v.tolist() for n, v in loaded.state_dict().items()} == {
        n: v.tolist() for n, v in expected.items()
    }
    source = torch.tensor(vocabulary.encode(sentences[:1]))
    mask = torch.ones_like(source, dtype=torch.bool)
    with torch.inference_mode():
        assert torch.equal(loaded.encode(source, mask), network.encode(source, mask))
    assert greedy_translations(loaded, vocabulary, sentences[:3]) == greedy_translations(
        network, vocabulary, sentences[:3]
    )


def test_files_are_as_small_as_the_papers(tmp_path, vocabulary):
    """The papers' Tiny with 32,000 pieces takes little more than 8 or 4 bits per weight."""
    network = Translator(Architecture.from_zoo(load_zoo()["tiny"], 32000))
    sizes = {}
    for grid in ("float32", "int8", "log4"):
        one = copy.deepcopy(network)
        if grid != "float32":
            ones = {name: 1.0 for name, _ in quantizable_linears(one)}
            quantize_model(one, grid, ones if grid == "int8" else None)
        described = None if grid == "float32" else section(grid, "mean-of-maxima")
        save_any_model(tmp_path / grid, one, vocabulary, {}, described)
        sizes[grid] = (tmp_path / grid / "model.safetensors").stat().st_size
    assert sizes["int8"] <= sizes["float32"] / 3.9
    assert sizes["log4"] <= sizes["float32"] / 7.5


def test_calibrate_runs_again_when_code_changes_that_it_runs(tmp_path, vocabulary, sentences):
    library = Path(weebill.__file__).parent
    save_model(tmp_path / "model", translator(vocabulary), vocabulary, {})
    short = [sentence.split()[0] for sentence in sentences]  # calls are recorded
    rows = {"source": short, "dropped_by": pa.nulls(len(short), pa.string())}
    write_table(tmp_path / "corpus.parquet", pa.table(rows))
    snakemake = SimpleNamespace(
        input=SimpleNamespace(model=tmp_path / "model", corpus=tmp_path / "corpus.parquet"),
        output=[tmp_path / "ranges.json"],
        params=SimpleNamespace(sentences=2, seed=1),
        log=[tmp_path / "log"],
        threads=1,
    )
    run = set()

    def note(frame, _event, _argument):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(library):
            run.add(".".join(path.relative_to(library).with_suffix("").parts))

    sys.setprofile(note)
    try:
        script = library.parent / "workflow_scripts/quantize/calibrate.py"
        runpy.run_path(str(script), {"snakemake": snakemake})
    finally:
        sys.setprofile(None)
    assert "quantization.calibration" in run
    followed = read_project(library.parent).closure("workflow_scripts/quantize/calibrate.py")
    assert {f"weebill.{module}" for module in run} - followed <= NEUTRAL.keys()


def test_searched_int8_products_stay_near_float32(vocabulary, sentences):
    network = translator(vocabulary)
    source = torch.tensor(vocabulary.encode(sentences[:1]))
    mask = torch.ones_like(source, dtype=torch.bool)
    with torch.inference_mode():
        memory = network.encode(source, mask)
    quantize_model(network, "int8", scales_of(translator(vocabulary), vocabulary, sentences[:8]))
    with torch.inference_mode():
        error = (network.encode(source, mask) - memory).norm() / memory.norm()
    assert 0 < error < 0.05


@pytest.mark.parametrize("grid", ["int8", "int8_rowwise", "log4"])
def test_finetuning_by_the_trainer_ends_on_the_grid(tmp_path, vocabulary, sentences, grid):
    pairs = pa.table(
        {
            "source": sentences,
            "target": sentences,
            "corpus": ["copy"] * len(sentences),
            "row": list(range(len(sentences))),
            "dropped_by": pa.nulls(len(sentences), pa.string()),
        }
    )
    write_table(tmp_path / "pairs.parquet", pairs)
    write_table(tmp_path / "validation.parquet", pairs.slice(0, 4))
    network = translator(vocabulary)
    before = network.embedding.weight.detach().clone()
    scales = scales_of(network, vocabulary, sentences[:3]) if grid != "log4" else None
    config = TrainingConfig(batch_tokens=256, updates=6, warmup=1, validate_every=3, smoothing=0.0)
    train(
        network,
        [tmp_path / "pairs.parquet"],
        tmp_path / "validation.parquet",
        vocabulary,
        config,
        seed=3,
        work=tmp_path / "work",
        transform=fake_quantization(grid, scales),
    )
    evaluated = network.embedding.weight.detach().clone()
    assert torch.equal(pack_model(network).embedding.weight, evaluated)
    scaled_together = evaluated if grid == "int8_rowwise" else evaluated.flatten()[None]
    assert all(len(x.unique()) <= (16 if grid == "log4" else 255) for x in scaled_together)
    assert not torch.equal(evaluated, before)
    save_any_model(
        tmp_path / "model", network, vocabulary, {}, section(grid, scales and "mean-of-maxima")
    )
    assert torch.equal(load_any_model(tmp_path / "model").network.embedding.weight, evaluated)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": "int9"}, "no quantization grid 'int9'; did you mean 'int8'"),
        ({"girds": 1}, "quantization.girds: unknown"),
        (
            {"activation_scale": "mean-of-maxima"},
            "float32 numbers beside the codes, by config.json",
        ),
    ],
)
def test_a_folder_that_contradicts_its_tensors_is_refused(tmp_path, vocabulary, change, message):
    network = quantize_model(translator(vocabulary), "int8")
    save_any_model(tmp_path / "model", network, vocabulary, {}, {**section("int8"), **change})
    with pytest.raises(InputError, match=message):
        load_any_model(tmp_path / "model")


def test_float32_tensors_under_a_quantized_configuration_are_refused(tmp_path, vocabulary):
    save_any_model(tmp_path / "model", translator(vocabulary), vocabulary, {}, section("log4"))
    with pytest.raises(InputError, match="tensors are float32"):
        load_any_model(tmp_path / "model")


def test_codes_of_another_length_are_refused(tmp_path, vocabulary):
    network = quantize_model(translator(vocabulary), "log4")
    save_any_model(tmp_path / "model", network, vocabulary, {}, section("log4"))
    path = tmp_path / "model" / "model.safetensors"
    tensors = load_file(path)
    tensors["embedding.codes"] = tensors["embedding.codes"][:-1].clone()
    save_file(tensors, path)
    with pytest.raises(InputError, match=r"embedding\.quantized\.codes"):
        load_any_model(tmp_path / "model")
    tensors = load_file(path)
    tensors["float32"] = tensors["float32"][:-1].clone()
    save_file(tensors, path)
    with pytest.raises(InputError, match=r"model.safetensors: [0-9,]+ float32 numbers"):
        load_any_model(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["quantization"] == {
        "grid": "log4",
        "activation_scale": None,
        "skip": [],
    }
