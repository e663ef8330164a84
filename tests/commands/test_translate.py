"""`goldcrest translate`: as many lines out as in, and one clear line where something is wrong."""

import io
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from goldcrest.__main__ import main
from goldcrest.translation.search import SearchOptions
from goldcrest.translation.translator import load_translator
from tests.small_models import TEXT, make_folder, make_vocabulary


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    return make_folder(base / "model", make_vocabulary(base / "vocab.spm"))


@pytest.fixture
def translate(monkeypatch, capfdbinary):
    """Runs the command in this process: exit code, output, error."""

    def run(*arguments, text: bytes = b""):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        code = main(["translate", *map(str, arguments)])
        sys.stdout.flush()
        out, error = capfdbinary.readouterr()
        return code, out.decode(), error.decode()

    return run


def test_lines_in_are_lines_out(folder):
    """Empty lines, carriage returns, other line separators and a last line without newline count."""
    lines = [TEXT[0], "", TEXT[1] + "\r", "one\u2028two\x0bthree\x85four", TEXT[2]]
    command = [sys.executable, "-m", "goldcrest", "translate", str(folder)]
    done = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    out = done.stdout.decode().split("\n")
    assert out.pop() == ""
    assert out == load_translator(folder).translate(lines)
    assert out[1] == ""


def test_nothing_in_is_nothing_out(translate, folder):
    assert translate(folder) == (0, "", "")


def test_nbest_lists(translate, folder):
    text = "\n".join(TEXT[:2]).encode()
    code, out, _ = translate(folder, folder, "--beam", 3, "--nbest", 2, text=text)
    rows = [line.split(" ||| ") for line in out.splitlines()]
    expected = load_translator([folder, folder]).nbest(TEXT[:2], SearchOptions(beam=3, nbest=2))
    assert code == 0
    assert [(row[0], row[1]) for row in rows] == [
        (str(number), found.text) for number, each in enumerate(expected) for found in each
    ]


def test_a_reader_that_has_enough_ends_it_quietly(folder):
    command = [sys.executable, "-m", "goldcrest", "translate", str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdout.close()
        process.stdin.write(f"{TEXT[0]}\n".encode() * 10)
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_errors_are_one_line(translate, folder, tmp_path):
    cases = [
        (translate(tmp_path / "none"), "no such model folder"),
        (translate(tmp_path), "config.json"),
        (translate(folder, text=b"good\nbad \xff\n"), "standard input:2: not UTF-8"),
        (translate(folder, "--nbest", 3), "--beam 3"),
        (translate(folder, "--device", "nonsense"), "--device nonsense"),
    ]
    for (code, _, error), message in cases:
        assert code == 1 and message in error and error.count("\n") == 1, error
