"""GPU speed, run on the CPU: each setting is timed on the whole text; float16 translates as float32 does."""

from dataclasses import asdict

import numpy as np
import pytest

from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.evaluation.timing import gpu_speed
from weebill.evaluation.timing.gpu_speed import measure_gpu_speed, on_device
from weebill.files import write_json
from weebill.quantization.files import section
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.report import rendering
from weebill.report.results import Results
from weebill.report.tables.speeds import gpu_table
from weebill.runtime.shortlist import save_shortlist
from weebill.runtime.translator import Runtime
from weebill.translation.model.packed_folder import load_any_model, save_any_model
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "model", make_vocabulary(tmp_path / "vocab.spm"))


def test_every_setting_is_timed(folder, tmp_path):
    pieces = len(load_any_model(folder).vocabulary)
    listed = tmp_path / "shortlist.safetensors"
    every = [list(range(2, pieces))] * pieces
    save_shortlist(
        Shortlist(np.array(every, dtype=np.int32), np.arange(2, 4, dtype=np.int32)), listed
    )
    rows = measure_gpu_speed(
        [("small/unpruned/float32", folder, listed)],
        TEXT[:3],
        batch_sizes=[2, 4],
        rounds=2,
        device="cpu",
    )
    settings = [(row.numbers, row.shortlist, row.batch_size) for row in rows]
    assert len(set(settings)) == len(settings) == 8
    for row in rows:
        assert row.words == sum(len(line.split()) for line in TEXT[:3])
        assert len(row.seconds) == 2 and row.words_per_second > 0
    write_json(tmp_path / "gpu.json", [asdict(row) for row in rows])
    results = Results.read({"kind": "translation"}, {"gpu_speeds": [tmp_path / "gpu.json"]})
    assert results.gpu_speeds == rows
    lines = rendering.to_csv(
        gpu_table(Results({"kind": "translation"}, gpu_speeds=rows))
    ).splitlines()
    assert len(lines) == 9
    assert lines[1].startswith("small/unpruned/float32,float32,no,2,")


def test_float16_translates_as_float32_does(folder):
    found = {}
    for numbers in ("float32", "float16"):
        model = load_any_model(folder)
        runtime = Runtime([on_device(model.network, numbers, "cpu")], "portable")
        sources = model.vocabulary.encode(TEXT)
        found[numbers] = runtime.translate(sources, SearchOptions(length_factor=1.0))
    same = sum(one == other for one, other in zip(*found.values(), strict=True))
    assert same >= len(TEXT) - 1
    assert any(found["float32"])


@pytest.mark.parametrize("grid, scaled", [("log4", False), ("int8", True), ("int8_rowwise", True)])
def test_packed_students_are_timed_in_all_their_numbers(folder, tmp_path, grid, scaled):
    """Packed students run with and without a shortlist; float16 translates as float32 does."""
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
        [(name, packed, listed)], TEXT[:3], batch_sizes=[3], rounds=1, device="cpu"
    )
    numbers = ["int8"] if scaled else ["float32", "float16"]
    assert [(row.numbers, row.shortlist) for row in rows] == [
        (one, listed) for one in numbers for listed in (False, True)
    ]
    found = [
        Runtime([on_device(load_any_model(packed).network, one, "cpu")], "portable").translate(
            pieces.encode(TEXT), options
        )
        for one in ("float32", "float16")
    ]
    assert any(found[0])
    assert sum(a == b for a, b in zip(*found, strict=True)) >= len(TEXT) - 1


@pytest.mark.parametrize("numbers", ["float32", "float16"])
def test_with_and_without_a_shortlist_from_one_copy(folder, tmp_path, numbers):
    """Each translates in turn as it would alone; the device holds one copy of the weights."""
    model = load_any_model(folder)
    pieces, options = model.vocabulary, SearchOptions(length_factor=1.0)
    network = on_device(model.network, numbers, "cpu")
    listed = Shortlist(np.full((len(pieces), 1), 5, np.int32), np.array([7], np.int32))
    save_shortlist(listed, tmp_path / "shortlist")
    both = gpu_speed._translators(folder, tmp_path / "shortlist", numbers, "cpu")
    for uses in (False, True, False):
        alone = Runtime([network], "portable", listed if uses else None)
        expected = pieces.decode(alone.translate(pieces.encode(TEXT), options))
        assert both[uses].translate(TEXT, options) == expected
    one, other = (translator.students[0].engines[0] for translator in both.values())
    assert one is other
    assert list(gpu_speed._translators(folder, None, numbers, "cpu")) == [False]


def test_a_device_that_is_not_there(folder):
    with pytest.raises(InputError, match=r"not available here; set hardware\.accelerator"):
        measure_gpu_speed(
            [("x/unpruned/float32", folder, None)],
            TEXT,
            batch_sizes=[2],
            rounds=1,
            device="cuda:99",
        )
    with pytest.raises(InputError, match="no words"):
        measure_gpu_speed([], [" "], batch_sizes=[2], rounds=1)
