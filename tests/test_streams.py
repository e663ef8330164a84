"""Commands with streams that are closed, have another encoding, or are on a full disk, as from a shell."""

import io
import os
import subprocess
import sys

import pytest

from weebill.__main__ import main

MAIN = f"{sys.executable} -P -m weebill"


def run(command: str, **environment: str) -> subprocess.CompletedProcess:
    """Run a shell command in which `weebill` is the command line."""
    words = ["bash", "-c", command.replace("weebill", MAIN)]
    return subprocess.run(words, capture_output=True, env={**os.environ, **environment})


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            "weebill compare nowhere <&-",
            b"weebill: standard input: closed, expected lines of text\n",
        ),
        ("weebill describe tiny >&-", b"weebill: standard output: closed, expected an open file"),
        ("weebill describe --all > /dev/full", b"weebill: standard output: the disk is full; free"),
    ],
)
def test_streams_that_cannot_be_used(command, told):
    found = run(command)
    assert found.returncode == 1 and found.stderr.startswith(told)
    assert found.stderr.count(b"\n") == 1


def test_nobody_reads_the_errors():
    assert run("weebill describe nothing 2>&-").returncode == 1
    assert run("weebill describe tiny --json 2>&-").stdout.startswith(b"[")


def test_output_is_utf8_in_any_locale(tmp_path, monkeypatch):
    text = "Größe, 大きさ\n".encode()
    (tmp_path / "text").write_bytes(text)
    output = io.TextIOWrapper(io.BytesIO(), encoding="ascii")  # as under such a locale
    monkeypatch.setattr(sys, "stdout", output)
    files = ["-s", f"{tmp_path}/text", "-t", f"{tmp_path}/text"]
    assert main(["mbr", *files, "--utility", "chrf", "--candidates", "1"]) == 0
    assert output.buffer.getvalue() == text


@pytest.mark.parametrize("name", ["x" * 300, "ü" * 200])
def test_names_that_are_too_long(name):
    found = run(f"weebill export {name} --source x")
    assert found.returncode == 1 and found.stderr.count(b"\n") == 1
    assert (
        b"longer than the file system allows" in found.stderr and b"Traceback" not in found.stderr
    )
