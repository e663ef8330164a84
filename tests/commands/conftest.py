"""Fixtures shared by the tests of `weebill translate`."""

import io
import sys
from types import SimpleNamespace

import pytest

from weebill.__main__ import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a small model."""
    from tests.small_models import make_folder, make_vocabulary  # loads torch

    base = tmp_path_factory.mktemp("models")
    return make_folder(base / "model", make_vocabulary(base / "vocab.spm"))


@pytest.fixture
def translate(monkeypatch, capfdbinary):
    """Return a function that runs the command in this process and returns exit code, output and error."""

    def run(*arguments, text: bytes = b"", typed: bool = False):
        stdin = SimpleNamespace(buffer=io.BytesIO(text), isatty=lambda: typed)
        monkeypatch.setattr(sys, "stdin", stdin)
        code = main(["translate", *map(str, arguments)])
        sys.stdout.flush()
        out, error = capfdbinary.readouterr()
        return code, out.decode(), error.decode()

    return run
