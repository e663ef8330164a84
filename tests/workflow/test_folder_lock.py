"""A killed run's lock goes; that of a living run stays."""

import os
import subprocess
import sys

import pytest

from weebill.errors import InputError
from weebill.workflow.folder_lock import LOCKS, hold, remove_left_lock

WAIT = "import sys; print(flush=True); sys.stdin.read()"


def test_only_the_lock_of_a_killed_run_goes(tmp_path):
    remove_left_lock(tmp_path)  # nothing to do
    lock = tmp_path / LOCKS / "0.input.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    # A process that looks like Snakemake to those who list processes.
    (tmp_path / "snakemake").write_text(WAIT)
    run = subprocess.Popen(
        [sys.executable, "snakemake"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    run.stdout.readline()
    with pytest.raises(InputError, match=f"runs here already \\(process {run.pid}\\)"):
        remove_left_lock(tmp_path)
    assert lock.exists()
    run.communicate()
    remove_left_lock(tmp_path)
    assert not lock.exists()


HOLD = """
import os, sys
from pathlib import Path
from weebill.workflow.folder_lock import hold
hold(Path.cwd())
os.execv(sys.executable, [sys.executable, "-c", "import sys; print('held', flush=True); sys.stdin.read()"])
"""


def test_a_folder_is_held_by_a_process_and_by_what_it_becomes(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    run = subprocess.Popen([sys.executable, "-c", HOLD], cwd=tmp_path, env=environment, **pipes)
    assert run.stdout.readline() == b"held\n"
    with pytest.raises(InputError, match="a run is under way here"):
        hold(tmp_path)
    run.kill()
    run.communicate()
    hold(tmp_path)
