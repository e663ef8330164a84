"""A job reports faults of the input or the disk in one line, and shows errors of our code as they are."""

import errno
import subprocess
import sys

import pytest
from safetensors import SafetensorError

from weebill.errors import explain
from weebill.files import write_text
from weebill.workflow.job import job

JOB = """
import logging, os, sys
from weebill.errors import InputError
from weebill.workflow.job import job
with job(sys.argv[1]):
    print("printed")
    logging.info("logged")
    os.system("echo from a child")
    raise {error}
"""


def run_job(log, error: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", JOB.format(error=error), log]
    return subprocess.run(command, capture_output=True, text=True)


def test_bad_input_is_one_line(tmp_path):
    log = tmp_path / "logs/job.log"
    run = run_job(log, "InputError('news.de:3: not UTF-8; convert it')")
    assert run.returncode == 1
    assert (run.stdout, run.stderr) == ("", "\nweebill: news.de:3: not UTF-8; convert it\n")
    text = log.read_text()
    assert all(part in text for part in ("printed", "logged", "from a child", "not UTF-8"))
    assert "Traceback" not in text


def test_our_own_errors_keep_their_traceback(tmp_path):
    run = run_job(tmp_path / "log", "ZeroDivisionError('ours')")
    assert run.returncode == 1
    assert "Traceback" in (tmp_path / "log").read_text()
    assert "ZeroDivisionError: ours" in run.stderr


def test_disk_errors_are_explained():
    full = OSError(errno.ENOSPC, "No space left on device", "results/a")
    assert explain(full) == (
        "results/a: the disk is full; free some space and run again, finished work is kept"
    )
    rust = SafetensorError("Error while serializing: I/O error: No space left (os error 28)")
    assert explain(rust).startswith("results: the disk is full")
    assert "read-only" in explain(OSError(errno.EROFS, "Read-only file system", "results/a"))
    assert "permission" in explain(PermissionError(errno.EACCES, "denied", "results/a"))
    renamed = OSError(errno.EISDIR, "Is a directory", ".a.partial-1", None, "results/a")
    assert explain(renamed).startswith("results/a: a folder stands where a file should")
    below = NotADirectoryError(errno.ENOTDIR, "Not a directory", "results/a/b")
    assert explain(below).startswith("results/a/b: a file stands where a folder should")
    there = FileExistsError(errno.EEXIST, "File exists", "results/a")
    assert explain(there).startswith("results/a: something stands here already")
    assert explain(OSError(errno.ECHILD, "no children")) is None
    assert explain(ValueError("ours")) is None


def test_a_full_disk_leaves_no_partial_file(tmp_path, monkeypatch):
    def full(self, *arguments, **keywords):
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(SystemExit), job(tmp_path / "log"):
        write_text(tmp_path / "results/table.csv", "rows")
    assert not list((tmp_path / "results").iterdir())


FILL = """
import sys
import numpy as np
from pathlib import Path
from weebill.files import atomic_folder
from weebill.workflow.job import job
from safetensors.numpy import save_file
with job(sys.argv[1] + ".log"), atomic_folder(Path(sys.argv[1]) / "model") as folder:
    save_file({"weight": np.zeros(1 << 20, np.float32)}, folder / "model.safetensors")
"""


def test_a_model_that_does_not_fit_on_the_disk(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount a small file system")
    try:
        run = subprocess.run([sys.executable, "-c", FILL, place], capture_output=True, text=True)
        assert run.returncode == 1
        assert len(run.stderr.split("\n")) == 3 and "the disk is full" in run.stderr, run.stderr
        assert not list(place.iterdir())
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
