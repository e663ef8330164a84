"""One line of an error tells what is wrong."""

import pytest
import torch

from weebill.errors import explain, first_line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nNo such file.\nMore.", "No such file."),
        ("Error for field 'x':\n    TypeError: 'x' expected int", "Error for field 'x': TypeError: 'x' expected int"),
        ("Set `weights_only=False`.\nBad pickle.", "Bad pickle."),
        ("", "ValueError"),
    ],
)  # fmt: skip
def test_the_first_line_of_a_librarys_error(text, told):
    assert first_line(ValueError(text)) == told


def test_a_full_memory_of_a_gpu_is_explained():
    error = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.\nMore.")
    line = explain(error)
    assert line.startswith("the GPU's memory is full; make batches smaller")
    assert line.endswith("(CUDA out of memory. Tried to allocate 20.00 MiB.)")
