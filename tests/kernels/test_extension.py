"""The instruction sets of the compiled engine that the library uses, and PyTorch without any."""

import numpy as np
import pytest
import torch

from tests.runtime.conftest import network, quantized
from tests.small_models import make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.kernels import extension as module
from weebill.runtime import text
from weebill.runtime.translator import Runtime, weights_of


def test_an_unknown_instruction_set_is_named():
    for refuse in (module.extension, module.check_instruction_set):
        with pytest.raises(InputError, match="no instruction set 'vnn'; did you mean 'vnni'"):
            refuse("vnn")
        with pytest.raises(
            InputError,
            match=r"'sve'; there are amx, vnni, avxvnni, avx2, i8mm, dotprod, neon, portable$",
        ):
            refuse("sve")


def test_portable_is_everywhere(monkeypatch):
    monkeypatch.setattr(module, "available", lambda: [])
    module.check_instruction_set("portable")
    with pytest.raises(InputError, match=r"'avx2': this machine lacks it; it has portable$"):
        module.check_instruction_set("avx2")


def test_arrays_share_the_memory_of_tensors_without_gaps():
    tensor = torch.arange(6.0).view(2, 3)
    shared = module.array(tensor)
    tensor[0, 0] = 9
    assert shared[0, 0] == 9
    assert np.array_equal(module.array(tensor.t()), tensor.t().tolist())


def test_a_width_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="multiple of 16, this student's is 24"):
        Runtime([network(width=24)], "avx2")


def test_the_portable_path_serves_where_the_engine_cannot(monkeypatch, caplog):
    monkeypatch.setattr(module, "available", lambda: [])
    assert text.best_isa([weights_of(network())]) == "portable"
    assert "none of its instruction sets" in caplog.text
    monkeypatch.setattr(module, "available", lambda: ["vnni", "avx2"])
    assert text.best_isa([weights_of(network())]) == "vnni"
    assert text.best_isa([weights_of(network(width=24))]) == "portable"
    mixed = quantized(network(), "int8", skip=["encoder.1.*"])
    assert text.best_isa([weights_of(mixed)]) == "portable"


def test_an_instruction_set_that_the_processor_lacks_is_refused(monkeypatch, tmp_path):
    folder = make_folder(tmp_path / "model", make_vocabulary(tmp_path / "vocab.spm"))
    monkeypatch.setattr(module, "available", lambda: ["avx2"])
    with pytest.raises(InputError, match="'vnni': this machine lacks it; it has avx2, portable"):
        text.load_runtime(folder, "vnni")
