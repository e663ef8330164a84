"""The engines that a processor can run, what they refuse, and those that no other test reaches."""

import hashlib
import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import weebill_runtime
from tests.workflow.running import REPOSITORY
from weebill import __version__
from weebill_runtime import _processor, engines

AVAILABLE = weebill_runtime.available()


def test_its_version_is_that_of_the_library():
    assert weebill_runtime.__version__ == __version__


def test_what_is_installed_was_built_from_these_sources():
    record = Path(_processor.__file__).with_name("sources.sha256").read_text("utf-8")
    found = {}
    for line in record.splitlines():
        digest, path = line.split("  ")
        found[path] = digest
    folder = REPOSITORY / "runtime"
    files = [
        folder / "CMakeLists.txt",
        *folder.glob("engine/*"),
        *folder.rglob("weebill_runtime/*.py"),
    ]
    expected = {
        str(file.relative_to(folder)): hashlib.sha256(without_comments(file)).hexdigest()
        for file in files
    }
    assert found == expected, "the engine is older than its sources; run `make runtime`"


def without_comments(file):
    """Return the content of a file; that of the engine's C++ without comments and blank lines."""
    content = file.read_bytes()
    if file.parent.name != "engine":
        return content
    return re.sub(rb"\n+", b"\n", re.sub(rb"[ \t]*//[^\n]*", b"", content))


def test_features_are_those_that_linux_names():
    """Linux reads them from the processor too, but by code of its own."""
    lines = Path("/proc/cpuinfo").read_text("ascii", errors="replace").splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    known = {*chain(*engines.NEEDS.values()), *engines.BFLOAT16.values()}
    assert set(_processor.features()) == known.intersection(flags)


@pytest.fixture
def all_compiled(monkeypatch):
    monkeypatch.setattr(engines, "_compiled", lambda isa: True)


def test_the_processor_decides(monkeypatch, all_compiled):
    monkeypatch.setattr(engines, "_features", lambda: ["avx2", "fma", "avx512f"])
    assert weebill_runtime.available() == ["avx2", "portable"]
    monkeypatch.setattr(engines, "_features", lambda: ["avx2", "fma", "avx_vnni"])
    assert weebill_runtime.available() == ["avxvnni", "avx2", "portable"]
    monkeypatch.setattr(engines, "_features", lambda: ["asimd", "asimddp", "i8mm"])
    assert weebill_runtime.available() == ["dotprod", "neon", "portable"]
    monkeypatch.setattr(engines, "_compiled", lambda isa: isa != "dotprod")
    assert weebill_runtime.available() == ["neon", "portable"]
    monkeypatch.setattr(engines, "_features", lambda: [])
    assert weebill_runtime.available() == ["portable"]


@pytest.mark.parametrize("granted", [True, False])
def test_linux_may_refuse_the_matrix_unit(monkeypatch, all_compiled, granted):
    monkeypatch.setattr(engines, "_features", lambda: engines.NEEDS["amx"])
    monkeypatch.setattr(engines, "_may_use_matrix_unit", lambda: granted)
    first = ["amx"] if granted else []
    assert weebill_runtime.available() == [*first, "vnni", "avx2", "portable"]


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="'sve'; there are amx, vnni, avxvnni, avx2, i8mm"):
        weebill_runtime.engine("sve")


@pytest.fixture(params=AVAILABLE)
def engine(request):
    return weebill_runtime.engine(request.param)


@pytest.mark.parametrize(
    "shape", [(1, 7, 16), (9, 64, 65), (70, 130, 200), (0, 64, 16), (3, 0, 16)]
)
def test_products_of_codes_are_exact(engine, shape):
    rows, inputs, outputs = shape
    draw = np.random.default_rng(1)
    codes = draw.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    x = draw.integers(-127, 128, (rows, inputs)).astype(np.float32)
    bias = draw.integers(-9, 9, outputs).astype(np.float32)
    linear = engine.Int8Linear(codes, np.ones(outputs, np.float32))
    expected = x.astype(np.int64) @ codes.T.astype(np.int64)
    assert np.array_equal(linear.multiply(x, None, 1.0, engine.Activation.none), expected)
    found = linear.multiply(x, bias, 1.0, engine.Activation.relu)
    assert np.array_equal(found, np.maximum(expected + bias, 0))
    assert np.array_equal(linear.rows(np.array([outputs - 1, 0])), codes[[outputs - 1, 0]])


def test_attention_is_that_of_float64(engine):
    draw = np.random.default_rng(2)
    query = draw.normal(size=(2, 3, 1, 32)).astype(np.float32)
    keys, values = draw.normal(size=(2, 2, 9, 3, 32)).astype(np.float32).swapaxes(2, 3)  # with gaps
    mask = np.arange(9) < np.array([[9], [4]])
    scores = np.where(
        mask[:, None, None], query.astype(np.float64) @ keys.swapaxes(2, 3) * 0.2, -np.inf
    )
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    expected = (shares / shares.sum(-1, keepdims=True) @ values).swapaxes(1, 2)
    np.testing.assert_allclose(engine.attend(query, keys, values, mask, 0.2), expected, atol=1e-5)


def test_read_only_arrays_serve_as_weights(engine):
    codes = np.eye(16, dtype=np.int8)
    codes.flags.writeable = False
    linear = engine.Int8Linear(codes, np.ones(16, np.float32))
    assert np.array_equal(linear.rows(np.arange(16)), codes)


@pytest.mark.parametrize(
    "codes",
    [np.eye(16), np.eye(32, dtype=np.int8)[::2], np.ones(16, np.int8)],
    ids=["type", "gaps", "shape"],
)
def test_other_arrays_are_refused(engine, codes):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        engine.Int8Linear(codes, np.ones(16, np.float32))


def test_sizes_that_differ_are_refused(engine):
    codes, step = np.eye(16, dtype=np.int8), np.ones(16, np.float32)
    with pytest.raises(ValueError, match="a step per output"):
        engine.Int8Linear(codes, step[:9])
    linear = engine.Int8Linear(codes, step)
    with pytest.raises(ValueError, match="rows of 16 numbers"):
        linear.multiply(np.ones((2, 8), np.float32), None, 1.0, engine.Activation.none)
    with pytest.raises(ValueError, match="a bias per output"):
        linear.multiply(np.ones((2, 16), np.float32), step[:1], 1.0, engine.Activation.none)
    with pytest.raises(IndexError, match="row -1 of 16"):
        linear.rows(np.array([-1]))


def test_a_student_names_what_does_not_fit(engine):
    with pytest.raises(KeyError, match="embedding"):
        engine.Int8Student({})
    table = {"weight": np.ones((20, 16)), "scale": np.ones(20, np.float32)}
    with pytest.raises(TypeError, match="weight: expected an array without gaps"):
        engine.Int8Student({"embedding": table})
