"""A job does not outlive the Snakemake that started it, even if SIGKILL killed Snakemake."""

import ast
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.workflow.interruptions import wait_for_the_end
from tests.workflow.waiting_jobs import Run
from weebill.workflow import parent_watch


@pytest.mark.timeout(120)
@pytest.mark.workflows
def test_no_job_survives_whenever_its_snakemake_is_killed(tmp_path: Path):
    """The kill comes while a job's process starts, during its imports or its work; orphans.py tries more moments."""

    def killed(state: str) -> Path:
        run = Run(tmp_path / state)
        try:
            while run.jobs() < 2 or run.state() != state:
                time.sleep(0.01)
        finally:
            run.kill()
        return run.folder

    with ThreadPoolExecutor() as pool:
        folders = [*pool.map(killed, ("starting", "importing", "at work"))]
    for folder in folders:
        wait_for_the_end(folder)
        assert not (folder / "never").exists()
        for log in ("wait.log", "logs/shell.log"):
            assert "ends: who started it is gone; run again" in (folder / log).read_text()


def test_the_script_of_no_snakemake_goes_on(tmp_path):
    """A user may run the script by hand, or a test with its own `snakemake` object."""
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
    """Error raised in place of the end of the process."""


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
    # A cluster's scheduler may pass the environment to another machine.
    monkeypatch.setenv(parent_watch.NAME, f"another/{name}")
    assert not parent_watch.is_job()
    parent_watch.end_with_snakemake()


def test_a_snakemake_above_counts_where_the_named_one_is_gone(ending, monkeypatch):
    """A job may itself run Snakemake."""
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
