"""The extension is found, or what is missing is said."""

import pytest

from goldcrest.errors import InputError
from goldcrest.runtime import extension as module
from goldcrest.runtime.translator import Runtime
from tests.runtime.conftest import network


def test_the_processor_decides(monkeypatch):
    monkeypatch.setattr(module, "_processor_flags", lambda: {"avx2", "fma", "avx512f"})
    assert module.available() == ["avx2"]
    monkeypatch.setattr(module, "_processor_flags", lambda: set())
    assert module.available() == []


def test_an_unknown_instruction_set_is_named():
    with pytest.raises(InputError, match="'vnn'; did you mean 'vnni'"):
        module.extension("vnn")


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(InputError, match="'no-such-compiler' is no compiler"):
        module.extension.__wrapped__("avx2")


def test_sources_and_flags_name_the_build(tmp_path):
    one, other = tmp_path / "a.cpp", tmp_path / "b.cpp"
    one.write_text("1")
    other.write_text("2")
    names = {
        module._digest([one], []),
        module._digest([one], ["-O3"]),
        module._digest([other], []),
        module._digest([one, other], []),
    }
    assert len(names) == 4


def test_a_width_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="multiple of 16, this student's is 24"):
        Runtime(network(width=24), "avx2")
