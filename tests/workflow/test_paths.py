"""Checkouts in folders with names that a shell would split or misread."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow.running import REPOSITORY, TINY, environment, snakemake_command

FOLDER = "my project (v1) & 'more'"
PARTS = (
    *("config", "envs", "profiles", "report", "rules"),
    *("runtime/weebill_runtime", "weebill", "workflow_scripts"),
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Copy this checkout into such a folder, with the caches of Python and `import_closure`."""
    folder = tmp_path_factory.mktemp("x") / FOLDER / "wee bill"
    for name in PARTS:
        shutil.copytree(REPOSITORY / name, folder / name, symlinks=True)
    for name in ("Snakefile", "Makefile"):
        shutil.copy(REPOSITORY / name, folder)
    shutil.copy(TINY, folder / "config")
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess:
    """Run a command in the folder with the folder's own library; stdout and stderr are together."""
    return subprocess.run(
        command,
        cwd=folder,
        env={**environment(), "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def one_line(text: str, word: str) -> str:
    assert "Traceback" not in text
    (line,) = [line for line in text.splitlines() if word in line]
    return line


@pytest.mark.workflows
def test_jobs_run_with_a_python_elsewhere(checkout):
    """Lines of a shell are tested in test_shell_paths.py."""
    if re.search(r"[^\w./-]", sys.executable):
        pytest.skip(f"{sys.executable}: this Python has such a path itself")
    made = "results/tiny/validation.parquet"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", made]
    done = run(checkout, *command, "--configfile", "config/tiny.yaml")
    assert done.returncode == 0, done.stdout
    assert (checkout / made).exists()


@pytest.mark.workflows
def test_a_python_there_is_refused_before_any_job(checkout, tmp_path):
    link = tmp_path / "an environment (1)"
    link.symlink_to(sys.prefix)
    command = snakemake_command(tmp_path, TINY, "--cores", "1")
    done = run(tmp_path, f"{link}/bin/python", *command[1:])
    assert done.returncode == 1
    line = one_line(done.stdout, "Snakemake cannot start")
    assert line.startswith(f"{link}/bin/python: ") and "make setup VENV=" in line
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("venv", [".venv", "../an environment"])
def test_setup_refuses_such_an_environment(checkout, venv):
    done = run(checkout, "bash", "envs/install.sh", "main", venv)
    assert done.returncode == 1
    place = Path(os.path.normpath(checkout / venv)) / "bin/python"
    line = one_line(done.stdout, "Snakemake cannot start")
    assert line.startswith(f"{place}: ") and "make setup VENV=" in line
    assert not (checkout / venv).exists()


@pytest.mark.workflows
def test_make_in_such_a_folder(checkout, tmp_path):
    """All commands of make use an environment elsewhere; blanks in its name are refused."""
    told = run(checkout, "make", "-n", "run", f"VENV={tmp_path}/e", "CONFIG=config/my own.yaml")
    assert told.returncode == 0, told.stdout
    assert f'envs/install.sh main "{tmp_path}/e"' in told.stdout
    assert (
        f'"{tmp_path}/e/bin/python" -m weebill run "config/my own.yaml" --cores "all"'
        in told.stdout
    )
    refused = run(checkout, "make", "setup", "VENV=/an environment")
    assert refused.returncode == 2
    assert "expected one path without blanks" in one_line(refused.stdout, "VENV: ")


def test_shell_lines_quote_their_files():
    rules = "\n".join(path.read_text("utf-8") for path in (REPOSITORY / "rules").rglob("*.smk"))
    names = re.findall(r"\{(?:input|output|log)[\w.\[\]]*(?::\w+)?\}", rules)
    assert names and all(name.endswith(":q}") for name in names)
