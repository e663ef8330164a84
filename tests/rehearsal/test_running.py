"""Rehearsal runs: comparison of the rules of two runs, and termination."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.workflow.running import REPOSITORY
from weebill.rehearsal import running
from weebill.rehearsal.running import compared, told


def test_equal_rules_are_equal_whatever_their_jobs():
    assert compared({"train": 6, "pages": 1}, {"pages": 1, "train": 2}) == ""


def test_what_one_run_lacks_is_named():
    found = compared({"train": 6, "prune": 2}, {"train": 1, "extra": 1})
    assert "lacks the rules prune" in found and "further rules extra" in found


def test_the_table_has_every_rule_and_the_sums():
    lines = list(told({"train": 1200, "prune": 2}, {"train": 3, "prune": 1}))
    assert any(line.split() == ["train", "1,200", "3"] for line in lines)
    assert lines[-1] == "2 rules and 2 in the miniature; jobs: 1,202 and 4"


def test_a_rehearsal_that_is_terminated_ends_its_run(tmp_path):
    """A script that would wait for ever stands in for Snakemake; a shell's background ignores interrupts."""
    (tmp_path / "snakemake.py").write_text(
        "import pathlib, time\npathlib.Path('began').touch()\ntime.sleep(600)\n"
    )
    code = (
        "import sys; from pathlib import Path; from weebill.rehearsal import running; "
        "running.snakemake = lambda *_: [sys.executable, 'snakemake.py']; "
        "running.run_miniature(Path('x.yaml'), Path('Snakefile'), '1', None)"
    )
    paths = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, (REPOSITORY, REPOSITORY / "runtime")))
    }
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, env=paths, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    while not (tmp_path / "began").exists():
        time.sleep(0.02)
    process.terminate()
    assert process.wait(60) == 128 + signal.SIGTERM
    left = [
        one
        for one in psutil.process_iter(["cmdline"])
        if "snakemake.py" in (one.info["cmdline"] or ())
    ]
    assert not [one for one in left if one.cwd() == str(tmp_path)]


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that runs a script in place of Snakemake, with a limit in minutes."""
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)

    def run(script, minutes):
        monkeypatch.setattr(running, "snakemake", lambda *_: [sys.executable, "-c", script])
        return running.run_miniature(tmp_path / "x.yaml", tmp_path / "Snakefile", "1", minutes)

    yield run
    signal.signal(signal.SIGTERM, before)


def test_a_rehearsal_ends_its_run_after_the_given_minutes(fake, tmp_path, capfd):
    """The run is interrupted, as by Ctrl-C, so that it ends in order."""
    script = """
import pathlib, time
try:
    time.sleep(600)
except KeyboardInterrupt:
    pathlib.Path("ended").touch()
"""
    start = time.monotonic()
    assert fake(script, 0.02) == 1
    assert 1 < time.monotonic() - start < 60
    assert (tmp_path / "ended").exists()
    assert capfd.readouterr().err == "stopped after 0.02 minutes; the same command continues\n"


def test_a_run_that_ends_in_time_gives_its_own_exit_code(fake, capfd):
    assert fake("raise SystemExit(3)", 1) == 3
    assert capfd.readouterr().err == ""
