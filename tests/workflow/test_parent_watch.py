"""A job does not outlive the Snakemake that started it, even one killed with SIGKILL."""

import ast
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from weebill.workflow import parent_watch

# Like the project's Snakefile, it names itself, and also starts a script of another environment.
SNAKEFILE = """
import sys
from weebill.workflow.parent_watch import announce_snakemake
announce_snakemake()
rule all:
    input: "never", "never.too"
rule shell:
    output: "never.too"
    log: "logs/shell.log"
    shell: "{sys.executable} wait.py --log {log}"
rule wait:
    output: "never"
    log: "wait.log"
    script: "wait.py"
"""
SCRIPT = """
from weebill.workflow.job import job
import os, sys, time
from pathlib import Path
log = "wait.log" if "snakemake" in globals() else sys.argv[2]
Path(f"{Path(log).stem}.loading").touch()
time.sleep(1.5)  # as torch is imported
with job(log):
    Path(f"{Path(log).stem}.working").touch()
    time.sleep(600)
"""


def wait_for(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited too long"
        time.sleep(0.05)


class Run:
    """A Snakemake run whose jobs wait for ever."""

    def __init__(self, folder: Path):
        folder.mkdir()
        (folder / "Snakefile").write_text(SNAKEFILE)
        (folder / "wait.py").write_text(SCRIPT)
        self.folder = folder
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
        self.process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)

    def jobs(self) -> list[psutil.Process]:
        """Return the processes of the run's jobs, from their start, that still work in its folder."""
        if self.process.poll() is not None:
            return []
        found = psutil.Process(self.process.pid).children(recursive=True)
        return [one for one in found if any("wait.py" in word for word in words(one))]

    def kill(self) -> None:
        """Kill Snakemake alone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.timeout(120)
@pytest.mark.workflows
def test_no_job_survives_whenever_its_snakemake_is_killed(tmp_path: Path):
    """Kills hit the start of a job's process, its imports, and its work."""

    def jobs_of_killed(seconds: float | None) -> tuple[Run, list[psutil.Process]]:
        run = Run(tmp_path / str(seconds))
        try:
            wait_for(lambda: len(run.jobs()) == 2)
            if seconds is None:
                wait_for((run.folder / "wait.working").exists)
            else:
                time.sleep(seconds)
            return run, run.jobs()
        finally:
            run.kill()

    with ThreadPoolExecutor() as pool:
        jobs = dict(pool.map(jobs_of_killed, (0.0, 0.3, None)))
    for run, processes in jobs.items():
        assert processes, run.folder
        wait_for(lambda processes=processes: all(map(ended, processes)), 20)
        assert not (run.folder / "never").exists()
    for run in jobs:
        for log in ("wait.log", "logs/shell.log"):
            assert "ends: who started it is gone; run again" in (run.folder / log).read_text()


def test_the_script_of_no_snakemake_goes_on(tmp_path):
    """A user may run it by hand, or a test with an object of its own."""
    script = """
import types
snakemake = types.SimpleNamespace(log=["log"])
from weebill.workflow.job import job
with job("log"):
    print("worked")
"""
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path)
    assert run.returncode == 0 and (tmp_path / "log").read_text() == "worked\n"


class Ended(Exception):
    """Error that stands for the end of the process."""


@pytest.fixture
def ending(monkeypatch):
    def end(code):
        raise Ended

    monkeypatch.setattr(parent_watch.os, "_exit", end)
    monkeypatch.setattr(parent_watch, "_watching", set())
    monkeypatch.setattr(parent_watch, "_above", lambda: None)
    monkeypatch.delenv(parent_watch.NAME, raising=False)


def test_the_snakemake_that_is_named_is_this_one_on_this_machine(ending, monkeypatch):
    parent_watch.end_with_snakemake()  # no process is named
    parent_watch.announce_snakemake()
    assert parent_watch.is_job()
    parent_watch.end_with_snakemake()  # the named process lives
    name = parent_watch.os.environ[parent_watch.NAME]
    machine, process, start = name.split(" ")
    gone = {
        "another process of its number": f"{machine} {process} {int(start) + 1}",
        "no process of its number": f"{machine} {2**22 + 1} {start}",
        "damaged": f"{machine} one {start}",
    }
    for other in gone.values():
        monkeypatch.setenv(parent_watch.NAME, other)
        monkeypatch.setattr(parent_watch, "_watching", set())
        with pytest.raises(Ended):
            parent_watch.end_with_snakemake()
    # A cluster's scheduler may hand the environment on to another machine.
    monkeypatch.setenv(parent_watch.NAME, f"another/{name}")
    assert not parent_watch.is_job()
    parent_watch.end_with_snakemake()


def test_a_snakemake_above_counts_where_the_named_one_is_gone(ending, monkeypatch):
    """A job may run a Snakemake of its own."""
    parent_watch.announce_snakemake()
    monkeypatch.setenv(parent_watch.NAME, f"{parent_watch.os.environ[parent_watch.NAME]}1")
    monkeypatch.setattr(parent_watch, "_above", lambda: psutil.Process())
    parent_watch.end_with_snakemake()


def test_scripts_look_before_they_import_anything_else():
    scripts = sorted(Path(__file__).parents[2].glob("workflow_scripts/*/*.py"))
    assert len(scripts) > 80
    for script in scripts:
        tree = ast.parse(script.read_text(encoding="utf-8"))
        first = tree.body[1] if ast.get_docstring(tree) else tree.body[0]
        assert ast.unparse(first) == "from weebill.workflow.job import job", script


def test_the_first_import_is_light():
    program = "import sys, weebill.workflow.job; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    heavy = {"torch", "transformers", "lightning", "pandas", "pyarrow", "numpy", "snakemake"}
    assert "weebill.workflow.parent_watch" in found.stdout.split() and not heavy & set(
        found.stdout.split()
    )


def test_a_snakemake_that_vanishes_between_two_questions(monkeypatch):
    class Vanishing:
        def is_running(self):
            return True

        def status(self):
            raise psutil.NoSuchProcess(1)

    codes = []
    monkeypatch.setattr(parent_watch.os, "_exit", codes.append)
    parent_watch._outlive(Vanishing())
    assert codes == [1]
