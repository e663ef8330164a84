"""Opponents in a separate Python: their answers, cores and failures."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from weebill.benchmarks.cleaning import opusfilter_chain
from weebill.benchmarks.opponent import Opponent, compete
from weebill.errors import InputError

NAMES = {"option": "--other", "environment": "comet"}
WORK = """
print("a library says something")
def work(task):
    return [task, *arguments]
"""


def test_it_answers_on_one_core(tmp_path):
    with Opponent(Path(sys.executable), WORK, "x", "y", folder=tmp_path, **NAMES) as opponent:
        assert opponent.work({"a": 1}) == [{"a": 1}, "x", "y"]
        assert opponent.work(2) == [2, "x", "y"]
        process = psutil.Process(opponent._process.pid)
        assert process.cpu_affinity() == [max(os.sched_getaffinity(0))]
        assert opponent.seconds() > 0
    assert not process.is_running()


def test_both_sides_answer_and_are_timed(tmp_path):
    burn = "def work(task):\n    return sum(range(task))\n"
    with Opponent(Path(sys.executable), burn, folder=tmp_path, **NAMES) as opponent:
        ours = {
            "loop": lambda: sum(range(2_000_000)),
            "formula": lambda: 2_000_000 * 1_999_999 // 2,
        }
        answers, rates = compete(ours, opponent, 2_000_000, 6.0, 2)
    assert len(set(answers.values())) == 1 and set(answers) == set(rates) == {*ours, "opponent"}
    assert len(rates["opponent"]) == len(rates["loop"]) == 2
    assert min(rates["formula"]) > max(rates["loop"])


def test_a_killed_opponent_is_told(tmp_path):
    with Opponent(Path(sys.executable), WORK, folder=tmp_path, **NAMES) as opponent:
        opponent._process.kill()
        opponent._process.wait()
        with pytest.raises(
            InputError, match=r"it cannot run the opponent \(it ended without a word"
        ):
            opponent.work(1)


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        ("absent", "--other absent: No such file or directory; make its environment by"),
        (sys.executable, r"it cannot run the opponent \(ModuleNotFoundError: No module named 'no_"),
    ],
)
def test_what_cannot_run(tmp_path, python, reason):
    with pytest.raises(InputError, match=reason):
        Opponent(Path(python), "import no_such_module", folder=tmp_path, **NAMES)


def test_opusfilter_runs_its_steps_once_for_each_cleaning(tmp_path, monkeypatch):
    """A stand-in package named opusfilter counts the runs."""
    package, about = tmp_path / "opusfilter", tmp_path / "opusfilter-3.3.dist-info"
    package.mkdir()
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: opusfilter\nVersion: 3.3\n")
    (package / "__init__.py").touch()
    (package / "opusfilter.py").write_text(
        "class OpusFilter:\n"
        "    def __init__(self, configuration):\n"
        "        self.folder = configuration['common']['output_directory']\n"
        "    def execute_steps(self, overwrite):\n"
        "        with open(self.folder + '/runs', 'a') as file:\n"
        "            file.write('x' if overwrite else '-')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    options = [("a b", "c d")], tmp_path / "lid.ftz", ("en", "de"), tmp_path, True
    with opusfilter_chain(Path(sys.executable), *options) as chain:
        assert chain.work("version") == "3.3"
        assert not (tmp_path / "runs").exists()
        chain.work("clean")
        chain.work("clean")
    assert (tmp_path / "runs").read_text() == "xx"
    assert (tmp_path / "opusfilter.source").read_text() == "a b\n"
