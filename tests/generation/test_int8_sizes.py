"""Sizes of int8 folders: written files, and published models without weights against the paper's figures."""

import pytest

from tests.generation.test_int8 import cut_model
from tests.hugging_face.small import GENERATORS
from tests.hugging_face.test_sizes import bart_large, gpt2_small, parameters, printed, without
from weebill.experiment.shares import part_of
from weebill.generation.int8 import int8_bytes, save_int8


@pytest.mark.parametrize("family", GENERATORS)
def test_bytes_are_those_of_the_file(family, tmp_path):
    model = cut_model(family)
    save_int8(model, tmp_path / "int8")
    content = (tmp_path / "int8/int8.safetensors").read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    assert int8_bytes(model) == len(content) - header


@pytest.mark.parametrize(
    ("table", "name", "make", "heads", "neurons", "layers"),
    [
        ("5", "bart-large-cnn", bart_large, 0, 0, {}),
        ("6", "bart-large-cnn", bart_large, 16, 4096, {"encoder": 6, "decoder": 6}),
        ("7", "gpt2", gpt2_small, 12, 3072, {"decoder": 6}),
    ],
)
def test_smaller_than_the_papers(table, name, make, heads, neurons, layers):
    """TEXTGEN prints 0.58, 0.34 and 0.17 GiB; our files take a fourth of float32's size plus the scales."""
    model = without(make, part_of(0.3, heads), part_of(0.6, neurons), **layers)
    size = int8_bytes(model) / 2**30
    assert 1 < size * 2**30 / parameters(model) < 1.015  # 0.38, 0.14 and 0.06 GiB
    row = printed("textgen_tables.csv", table=table, model=name, variant="quantized")
    assert size < float(row["size_gb"])
