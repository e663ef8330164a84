"""Runs of a small workflow show their jobs on a terminal and in a file, and say what to do after a failure."""

import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forking import fork
from tests.workflow.running import REPOSITORY, become_snakemake, run_snakemake
from weebill.workflow.progress import FOLDER

SNAKEFILE = """
from weebill.workflow.parent_watch import announce_snakemake
from weebill.workflow.terminal.time_left import expect
announce_snakemake()
onstart:
    expect({("train_student",): 20.0}, 10.0)
rule all:
    input: "tiny.txt", "base.txt"
rule train_student:
    output: "{student}.txt"
    log: "logs/{student}.log"
    shell: "{PYTHON:q} {JOB:q} {log} {output}"
"""
JOB = """
import os, sys, time
from weebill.errors import InputError
from weebill.workflow.job import job
from weebill.workflow.progress import tell
log, output = sys.argv[1:]
print("written to the terminal", file=sys.stderr)
with job(log):
    print("written to the log")
    for update in range(1, 6):
        tell(update, 5, "updates", "loss 2.50")
        time.sleep(float(os.environ["PAUSE"]))
    if output == os.environ.get("FAILS"):
        raise InputError("news.de:3: not UTF-8; convert it")
    open(output, "w").close()
"""
ENVIRONMENT = {"PYTHONPATH": str(REPOSITORY), "TERM": "xterm-256color", "COLUMNS": "120"}
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    names = f"PYTHON, JOB = {sys.executable!r}, {str(tmp_path / 'job.py')!r}\n"
    (tmp_path / "Snakefile").write_text(names + SNAKEFILE)
    return tmp_path


PROFILE = str(REPOSITORY / "profiles/local")


def in_a_file(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run the workflow with stdout and stderr in one file."""
    places = ["--directory", str(folder), "--snakefile", str(folder / "Snakefile")]
    return run_snakemake("--cores", "2", "--workflow-profile", PROFILE, *places, *arguments)


def on_a_terminal(
    folder: Path, act: Callable[[str, int], None] = lambda text, terminal: None, **more: str
) -> tuple[int, str]:
    """Run the workflow on a terminal; return exit code and text.  `act` gets the text so far and may type there."""
    ours, theirs = pty.openpty()

    def run() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)  # Ctrl-C then reaches the jobs too
        signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest's may ignore it
        os.dup2(theirs, 0)
        os.chdir(folder)
        become_snakemake(theirs, "--cores", "2", "--workflow-profile", PROFILE)

    process = fork(run, **ENVIRONMENT, **more)
    os.close(theirs)
    limit = threading.Timer(60, process.kill)
    limit.start()
    text = ""
    try:
        while part := os.read(ours, 4096):
            text += part.decode("utf-8", "replace")
            act(ESCAPES.sub("", text), ours)
    except OSError:  # the run has closed the terminal
        pass
    limit.cancel()
    os.close(ours)
    process.join()
    return process.exitcode, ESCAPES.sub("", text)


def test_a_terminal_shows_each_job_with_its_progress(folder):
    code, text = on_a_terminal(folder, PAUSE="0.2")
    assert code == 0, text
    for student in ("tiny", "base"):
        assert re.search(rf"train student {student} .*\d of 5 updates, loss 2.50", text)
        assert f"train student {student}: done in" in text
    assert text.count("written to the terminal") == 2
    assert re.search(r"the whole run .*[12] of 3 jobs done in \d+ s +about \d+ s left", text)
    assert "All 3 jobs done" in text
    assert "Select jobs" not in text and "Execute" not in text
    assert not (folder / FOLDER).exists()


def test_ctrl_c_says_how_to_go_on(folder):
    typed = []

    def act(text: str, terminal: int) -> None:
        if "updates" in text and not typed:
            typed.append(os.write(terminal, b"\x03"))

    began = time.monotonic()
    code, text = on_a_terminal(folder, act, PAUSE="20")
    assert code == 1 and time.monotonic() - began < 60, text
    assert "Stopped by you" in text and "Traceback" not in text
    assert re.search(r"Not finished: train student tiny \(1 of 5 updates", text), text
    assert "0 of 3 jobs done and kept. The same command continues where this run ended." in text


def test_a_file_has_a_line_for_each_start_end_and_failure(folder, monkeypatch):
    monkeypatch.setenv("PAUSE", "0")
    monkeypatch.setenv("FAILS", "tiny.txt")
    run = in_a_file(folder)
    said = run.stdout
    assert run.returncode == 1
    assert "3 jobs to do on 2 cores" in said and "\x1b" not in said
    for student in ("tiny", "base"):
        assert f"started   train student {student}  (log: logs/{student}.log)" in said
    assert re.search(r"finished  train student base after \d s; 1 of 3 jobs done", said)
    assert "FAILED    train student tiny after" in said
    assert (
        "  log: logs/tiny.log; its last lines:\n    written to the log\n    news.de:3: not" in said
    )
    assert "returned non-zero exit status 1" in said  # Snakemake's own message stays
    end = said[said.rindex("Failed:") :]
    assert end.startswith("Failed: train student tiny (rule train_student); log: logs/tiny.log\n")
    assert "Mend the cause; then the same command continues" in end
    monkeypatch.delenv("FAILS")
    silent = in_a_file(folder, "--quiet")
    assert silent.returncode == 0 and "train" not in silent.stdout
    again = in_a_file(folder).stdout
    assert "Nothing to be done" in again and "jobs" not in again.partition("Nothing")[2]
