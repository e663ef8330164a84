"""Types in the headers of files, against the written tensors."""

import pytest
import torch
from safetensors.torch import save_file

from weebill.errors import InputError
from weebill.tensor_files import NAMES, check_types, stored_types, types_of

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
