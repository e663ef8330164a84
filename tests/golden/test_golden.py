"""Files of version 0.1.0, from before the project was renamed, are still read and still give the same outputs."""

import json
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest

from tests.golden.outputs import outputs
from weebill.generation.models import load_generator
from weebill.hugging_face.folder import folder_kind
from weebill.kernels.extension import fastest
from weebill.metric.folder import KIND as METRIC
from weebill.replaceable import check_replaceable
from weebill.runtime.exports.formats import convert
from weebill.runtime.exports.marian.binary import write_bin
from weebill.runtime.exports.marian.files import read_npz
from weebill.translation.model.folder import KIND as STUDENT
from weebill.translation.model.folder import load_model
from weebill_runtime.shortlist import Shortlist

ARCHIVE = Path(__file__).with_name("golden.tar.xz")
EXACT = ("translations", "shortlist", "imported from Marian", "cached vectors", "generated")


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    """Unpack the archive; return its folder and the recorded outputs."""
    base = tmp_path_factory.mktemp("golden")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(base, filter="data")
    return base, json.loads((base / "outputs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("isa", sorted({"portable", fastest()}))
def test_old_files_give_the_same_outputs(golden, tmp_path, isa):
    """Texts, tokens and stored vectors are equal, and scores agree to a precision that all processors reach."""
    base, expected = golden
    shutil.copytree(base, tmp_path / "golden")  # the import from Marian writes here
    found = json.loads(json.dumps(outputs(tmp_path / "golden", isa)))
    assert found.keys() == expected.keys()
    for name in EXACT:
        assert found[name] == expected[name], name
    for name, scores in expected["scores"].items():
        assert found["scores"][name] == pytest.approx(scores, abs=1e-5)
    for each, wanted in zip(found["n-best"], expected["n-best"], strict=True):
        assert [text for text, _ in each] == [text for text, _ in wanted]
        assert [one for _, one in each] == pytest.approx([one for _, one in wanted], abs=2e-4)


def test_the_export_is_the_same(golden, tmp_path):
    """The export of the old student to Marian is unchanged, except for the line that names the program."""
    base, _ = golden
    model = load_model(base / "student/float32")
    shortlist = Shortlist.load(
        base / "shortlist.safetensors", model.vocabulary.sizes, model.vocabulary.sha256
    )
    convert(model, "marian", tmp_path / "marian", shortlist)
    names = sorted(path.name for path in (base / "marian").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "marian").iterdir())
    for name in set(names) - {"model.npz", "model.bin"}:
        assert (tmp_path / "marian" / name).read_bytes() == (base / "marian" / name).read_bytes()
    arrays, options = read_npz(tmp_path / "marian/model.npz")
    old_arrays, old_options = read_npz(base / "marian/model.npz")
    assert options | {"version": old_options["version"]} == old_options
    assert arrays.keys() == old_arrays.keys()
    assert all(np.array_equal(array, old_arrays[name]) for name, array in arrays.items())
    write_bin(tmp_path / "model.bin", arrays, old_options)
    assert (tmp_path / "model.bin").read_bytes() == (base / "marian/model.bin").read_bytes()


def test_old_folders_are_replaced(golden):
    """Marks of version 0.1.0 distinguish old folders from a user's own."""
    base, _ = golden
    bart = load_generator(base / "generator/bart")
    kinds = {
        "generator/bart": folder_kind(bart.tokenizer),
        "metric": METRIC,
        **{f"student/{precision}": STUDENT for precision in ("float32", "int8", "log4")},
    }
    for name, kind in kinds.items():
        assert check_replaceable(base / name, kind) == base / name
