"""The shell completes commands, options, names and files, and PyTorch is not loaded."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("argcomplete")


def completions(line: str) -> tuple[list[str], str]:
    """Return the completions that the shell offers for a line, and the modules loaded for them."""
    asked = {
        "_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "63",
        "_ARGCOMPLETE_IFS": "\v", "_ARGCOMPLETE_STDOUT_FILENAME": "offered",
    }  # fmt: skip
    code = (
        "import os, sys; from weebill.__main__ import main\n"
        "def end(code):\n    print(*sys.modules)\n    sys.stdout.flush()\n    os.kill(os.getpid(), 9)\n"
        "os._exit = end\nmain()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True
    )
    with open("offered") as file:
        return file.read().split("\v"), run.stdout


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("weebill tra", {"translate "}),
        ("weebill check --he", {"--help "}),
        ("weebill translate model --max-l", {"--max-length "}),
        ("weebill describe multi30k.t", {"multi30k.teacher", "multi30k.tiny"}),
        ("weebill check con", {"config/"}),
        ("weebill run config/d", {"config/demo.yaml "}),
    ],
)
def test_offers(tmp_path, monkeypatch, line, offered):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/demo.yaml").touch()
    found, loaded = completions(line)
    assert {one for one in found if one.strip()} == offered
    assert "weebill.__main__" in loaded and "torch" not in loaded.split()
