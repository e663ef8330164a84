"""GPU speed, run on the CPU: each setting is timed with the whole text and scored; float16 nearly equals float32."""

from dataclasses import asdict

import numpy as np
import pytest
import torch
from sacrebleu import corpus_bleu

from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.evaluation.timing import gpu_speed
from weebill.evaluation.timing.gpu_speed import measure_gpu_speed
from weebill.evaluation.timing.gpu_text import TimedText
from weebill.files import write_json
from weebill.quantization.files import section
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.report import rendering
from weebill.report.results import Results
from weebill.report.tables.speeds import gpu_table
from weebill.runtime.shortlist import save_shortlist
from weebill.runtime.text import load_runtime
from weebill.runtime.translator import Runtime
from weebill.translation.model.packed_folder import load_any_model, save_any_model
from weebill.translation.running import cast
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

TIMED = TimedText.of([TestSet("news", TEXT[:3], TEXT[:3])], TEXT[3:], 5)
GPU = pytest.param("cuda", marks=pytest.mark.gpu)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("student")
    return make_folder(place / "model", make_vocabulary(place / "vocab.spm"))


@pytest.fixture
def listed(folder, tmp_path):
    """Return a shortlist of every other piece, without the most frequent piece of this model's translations."""
    pieces = len(load_any_model(folder).vocabulary)
    path = tmp_path / "shortlist.safetensors"
    every = np.tile(np.arange(3, pieces, 2, dtype=np.int32), (pieces, 1))
    save_shortlist(Shortlist(every, np.array([5], dtype=np.int32)), path)
    return path


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_every_setting_is_timed_and_scored(folder, listed, tmp_path, device):
    translated = {}
    for uses in (False, True):
        runtime = load_runtime(folder, "portable", listed if uses else None)
        translated[uses] = runtime.translate(TEXT[:3], SearchOptions())
    assert translated[False] != translated[True]
    references = [f"{line[: len(line) // 2]} Haus" for line in translated[False]]
    timed = TimedText.of([TestSet("news", TEXT[:3], references)], TEXT[3:], 5)
    rows = measure_gpu_speed(
        [("small/unpruned/float32", folder, listed)],
        timed,
        batch_sizes=[1, 4],
        rounds=2,
        numbers=("float32", "float16"),
        latency_sentences=2,
        target="de",
        device=device,
    )
    settings = [(row.numbers, row.shortlist, row.batch_size) for row in rows]
    assert len(set(settings)) == len(settings) == 8
    for row in rows:
        text = timed.first(2) if row.batch_size == 1 else timed
        assert (row.sentences, row.words) == (len(text.sentences), text.words)
        assert len(row.seconds) == 2
        assert row.words_per_second == pytest.approx(np.median(row.words / np.array(row.seconds)))
        if row.batch_size == 1:
            assert row.sentence_ms == pytest.approx(1000 * sum(row.seconds) / 2 / 2)
            assert row.bleu == {}
        elif row.numbers == "float32":
            expected = corpus_bleu(translated[row.shortlist], [references]).score
            near = 1e-9 if device == "cpu" else 10  # a piece may differ on another device
            assert row.bleu == {"news": pytest.approx(expected, abs=near)}
            assert 0 < expected < 100 or row.shortlist or device != "cpu"  # varies by version
            assert "tok:13a" in row.signature and row.sentence_ms is None
        assert (row.memory_mib is None) == (device == "cpu")
    if device != "cpu":
        memory = {row[:3]: one.memory_mib for row, one in zip(settings, rows, strict=True)}
        for (numbers, uses, size), mib in memory.items():
            assert 0 < mib < 8192, (numbers, uses, size, mib)
    write_json(tmp_path / "gpu.json", [asdict(row) for row in rows])
    results = Results.read({"kind": "translation"}, {"gpu_speeds": [tmp_path / "gpu.json"]})
    assert results.gpu_speeds == rows
    lines = rendering.to_csv(gpu_table(results)).splitlines()
    assert len(lines) == 9
    assert lines[1].startswith("small/unpruned/float32,float32,no,1,")


def test_a_setting_that_the_memory_does_not_hold_is_left_out(folder, monkeypatch, caplog):
    def full(network, precision):
        if precision == "float32":
            raise torch.OutOfMemoryError
        return cast(network, precision)

    monkeypatch.setattr(gpu_speed, "cast", full)
    rows = measure_gpu_speed(
        [("x/unpruned/float32", folder, None)], TIMED, batch_sizes=[4], rounds=1, device="cpu"
    )
    assert [row.numbers for row in rows] == ["float16", "bfloat16"]
    assert "x/unpruned/float32, batch 4, float32: not measured, the GPU's memory" in caplog.text


def test_a_setting_whose_numbers_overflow_is_left_out(folder, monkeypatch, caplog):
    def large(network, precision):
        with torch.no_grad():
            # The largest number of float16 is 65,504.
            network.encoder[0].feed_forward_norm.bias.fill_(1e5)
        return cast(network, precision)

    monkeypatch.setattr(gpu_speed, "cast", large)
    rows = measure_gpu_speed(
        [("x/unpruned/float32", folder, None)], TIMED, batch_sizes=[4], rounds=1, device="cpu"
    )
    assert [row.numbers for row in rows] == ["float32", "bfloat16"]
    assert "batch 4, float16: not measured: the model's output is not a number" in caplog.text


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_half_precision_translates_nearly_as_float32_does(folder, precision):
    found = {}
    for numbers in ("float32", precision):
        model = load_any_model(folder)
        runtime = Runtime([cast(model.network, numbers)], "portable")
        sources = model.vocabulary.encode(TEXT)
        found[numbers] = runtime.translate(sources, SearchOptions(length_factor=1.0))
    same = sum(one == other for one, other in zip(*found.values(), strict=True))
    assert same >= len(TEXT) - (1 if precision == "float16" else len(TEXT) // 2)
    assert any(found["float32"])


@pytest.mark.parametrize("grid, scaled", [("log4", False), ("int8", True), ("int8_rowwise", True)])
def test_packed_students_are_timed_in_all_their_numbers(folder, tmp_path, grid, scaled):
    """Packed students run with and without a shortlist; float16 gives the translations of float32."""
    model = load_any_model(folder)
    pieces, options = model.vocabulary, SearchOptions(length_factor=1.0)
    scales = {name: 20.0 for name, _ in quantizable_linears(model.network)} if scaled else None
    quantize_model(model.network, grid, scales)
    about = section(grid, "mean-of-maxima" if scaled else None)
    packed = tmp_path / "packed"
    save_any_model(packed, model.network, pieces, lineage={}, quantization=about)
    listed = tmp_path / "shortlist.safetensors"
    every = np.tile(np.arange(2, len(pieces), dtype=np.int32), (len(pieces), 1))
    save_shortlist(Shortlist(every, np.arange(2, 4, dtype=np.int32)), listed)
    name = f"small/unpruned/{grid}"
    rows = measure_gpu_speed(
        [(name, packed, listed)], TIMED, batch_sizes=[3], rounds=1, device="cpu"
    )
    numbers = ["int8"] if scaled else ["float32", "float16", "bfloat16"]
    assert [(row.numbers, row.shortlist) for row in rows] == [
        (one, listed) for one in numbers for listed in (False, True)
    ]
    found = [
        Runtime([cast(load_any_model(packed).network, one)], "portable").translate(
            pieces.encode(TEXT), options
        )
        for one in ("float32", "float16")
    ]
    assert any(found[0])
    assert sum(a == b for a, b in zip(*found, strict=True)) >= len(TEXT) - 1


def test_a_device_that_is_not_there(folder):
    with pytest.raises(InputError, match=r"device .*: not available here; use cpu"):
        measure_gpu_speed(
            [("x/unpruned/float32", folder, None)],
            TIMED,
            batch_sizes=[2],
            rounds=1,
            device="cuda:99",
        )
