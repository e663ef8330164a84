"""A job does not outlive the Snakemake that started it, even one killed with SIGKILL."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from weebill import orphans

SNAKEFILE = """
rule wait:
    output: "never"
    script: "wait.py"
"""
SCRIPT = """
import os, time
from pathlib import Path
from weebill.job import job
with job("wait.log"):
    Path("pid.partial").write_text(str(os.getpid()))
    os.replace("pid.partial", "pid")
    time.sleep(600)
"""


def wait_for(condition, seconds=30):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited too long"
        time.sleep(0.05)


@pytest.mark.timeout(120)
def test_the_job_of_a_killed_run_ends(tmp_path: Path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "wait.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all"]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        wait_for((tmp_path / "pid").exists)
        orphan = psutil.Process(int((tmp_path / "pid").read_text()))
        assert orphan.is_running()
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    wait_for(lambda: not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE, 10)


def test_a_snakemake_that_vanishes_between_two_questions(monkeypatch):
    class Vanishing:
        def is_running(self):
            return True

        def status(self):
            raise psutil.NoSuchProcess(1)

    codes = []
    monkeypatch.setattr(orphans.os, "_exit", codes.append)
    orphans._outlive(Vanishing())
    assert codes == [1]
