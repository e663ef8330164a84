"""Files are read as by safetensors, without a copy, and damaged files are refused."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import save_file

from weebill_runtime.errors import InputError
from weebill_runtime.tensor_file import read_tensors

TENSORS = {
    "b": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a": np.array([-3, 4], np.int8),
    "none": np.zeros((0, 5), np.float32),
    "one": np.array(7, np.uint16),
    "long": np.array([2**40], np.int64),
}


@pytest.fixture
def file(tmp_path):
    save_file(TENSORS, tmp_path / "file", {"told": "x"})
    return tmp_path / "file"


def test_a_file_of_the_library(file):
    found, told = read_tensors(file)
    assert told == {"told": "x"} and found.keys() == TENSORS.keys()
    for name, one in TENSORS.items():
        assert found[name].dtype == one.dtype and np.array_equal(found[name], one)
        assert found[name].shape == one.shape


def test_arrays_lie_on_the_mapped_file_which_stays_as_it_is(file):
    before = file.read_bytes()
    found, _ = read_tensors(file)
    assert found["b"].base is not None and not found["b"].flags.owndata
    found["b"][0, 0] = 9
    assert file.read_bytes() == before


def test_another_type_is_named(file):
    with pytest.raises(InputError, match="tensor b is F32, expected I8 or U8; make it again"):
        read_tensors(file, lambda name: ("I8", "U8") if name == "b" else ())


def written(path, header, data=b"", size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if size is None else size).to_bytes(8, "little") + text + data)
    return path


def tensor(begin, end, shape=(2,), kind="F32"):
    return {"dtype": kind, "shape": list(shape), "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("header", "data"),
    [
        (b"", b""),
        (b"[]", b""),
        (b"{", b""),
        (b'{"a": 1, "a": 2}', b""),
        ({"a": tensor(0, 8)}, bytes(7)),
        ({"a": tensor(0, 8)}, bytes(9)),
        ({"a": tensor(0, 4)}, bytes(4)),
        ({"a": tensor(1, 9)}, bytes(9)),
        ({"a": tensor(0, 8), "b": tensor(4, 12)}, bytes(12)),
        ({"a": tensor(0, 8), "b": tensor(12, 20)}, bytes(20)),
        ({"a": tensor(8, 0)}, bytes(8)),
        ({"a": tensor(0, 8, (-1, -2))}, bytes(8)),
        ({"a": tensor(0, 8, kind="F99")}, bytes(8)),
        ({"a": tensor(0, 8, (float("inf"),))}, bytes(8)),
        ({"a": tensor(0, 8, (2.5,))}, bytes(8)),
        ({"a": {"dtype": "F32"}}, bytes(8)),
        ({"a": 3}, bytes(8)),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, header, data):
    with pytest.raises((ValueError, KeyError, TypeError)):
        read_tensors(written(tmp_path / "file", header, data))


def test_parts_of_files_are_refused(tmp_path, file):
    whole = file.read_bytes()
    for size in (0, 1, 7, 8, 9, len(whole) - 1):
        (tmp_path / "part").write_bytes(whole[:size])
        with pytest.raises(ValueError):
            read_tensors(tmp_path / "part")
    with pytest.raises(ValueError, match="no header"):
        read_tensors(written(tmp_path / "large", {}, size=2**62))


def test_a_pipe_that_nobody_writes_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a plain file"):
        read_tensors(tmp_path / "pipe")
