"""Types in the headers of files, compared with the written tensors."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from weebill.errors import InputError
from weebill.tensor_files import (
    NAMES,
    Entry,
    check_types,
    mapped_tensors,
    stored_types,
    types_of,
    write_tensors,
)

WRITTEN = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
    "C64": torch.complex64,
}


def test_names_are_those_of_the_types_that_were_written(tmp_path):
    file = tmp_path / "all.safetensors"
    save_file({name: torch.zeros(3, dtype=kind) for name, kind in WRITTEN.items()}, file)
    assert stored_types(file) == {name: name for name in WRITTEN}
    assert all(WRITTEN[name] == kind for kind, name in NAMES.items())


def test_what_is_expected_passes_and_names_without_expectation_too(tmp_path):
    file = tmp_path / "some.safetensors"
    written = {"a": torch.zeros(2), "b": torch.zeros(2, dtype=torch.int64)}
    save_file(written, file)
    check_types(file, types_of(written))
    check_types(file, types_of({}))
    other = {**written, "b": torch.zeros(2)}
    with pytest.raises(InputError, match=r"some\.safetensors: tensor b is I64, expected F32; "):
        check_types(file, types_of(other))


def test_files_are_those_of_the_library(tmp_path):
    """Tensors have several types, one is empty, one has no dimension, and they come in any order."""
    torch.manual_seed(1)
    tensors = {
        "codes": torch.randint(-127, 128, (3, 5)).to(torch.int8),
        "none": torch.zeros(0, 4),
        "one": torch.tensor(2.5),
        "ids": torch.tensor([1, 2, 3]),
        "bytes": torch.randint(0, 256, (7,)).to(torch.uint8),
        "weight": torch.randn(2, 3),
    }
    entries = [
        Entry(name, one.dtype, tuple(one.shape), lambda one=one: one)
        for name, one in tensors.items()
    ]
    write_tensors(tmp_path / "own", entries)
    save_file(tensors, tmp_path / "theirs")
    for found in (
        load_file(tmp_path / "own"),
        mapped_tensors(tmp_path / "own"),
        mapped_tensors(tmp_path / "theirs"),
    ):
        assert found.keys() == tensors.keys()
        assert all(torch.equal(found[name], one) for name, one in tensors.items())
        assert all(found[name].dtype == one.dtype for name, one in tensors.items())
    with (tmp_path / "own").open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
    assert size % 8 == 0
