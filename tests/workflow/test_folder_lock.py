"""Only one run of an experiment at a time, also through another mount; locks of killed runs are removed."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow.running import TINY, snakemake
from weebill.errors import InputError
from weebill.workflow import folder_lock, parent_watch
from weebill.workflow.folder_lock import LOCK, SNAKEMAKE_LOCKS, hold, remove_left_locks

HOLD = """
import sys
from pathlib import Path
from weebill.workflow.folder_lock import hold
hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder_lock, "_held", [])
    yield Path("results/one")
    for descriptor in folder_lock._held:
        os.close(descriptor)


@pytest.fixture
def start():
    """Return a function that starts a process that locks results; end all of these processes afterwards."""
    started = []

    def start(results: Path) -> subprocess.Popen:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", HOLD, results]
        started.append(subprocess.Popen(command, env=environment, **pipes))
        assert started[-1].stdout.readline() == b"held\n"
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_results_are_held_until_their_process_ends(results, start):
    run = start(results)
    with pytest.raises(InputError, match=rf"^results/one: .*\(process {run.pid}, \w+\)"):
        hold(results)
    hold(results.with_name("another"))
    run.kill()
    run.communicate()
    hold(results)


def test_results_are_held_through_another_mount_and_from_another_container(results, start):
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("mounting needs the right to do so")
    start(results)
    program = f"exec {sys.executable} -c '{HOLD}' other/one"
    script = f"mkdir other && mount --bind results other && {program}"
    command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run(
        command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert other.returncode == 1
    assert "other/one: a run of this experiment is under way, in another container" in other.stderr


def test_only_the_locks_of_a_killed_run_go(results, start):
    remove_left_locks(results)  # has nothing to do
    SNAKEMAKE_LOCKS.mkdir(parents=True)
    own, other = SNAKEMAKE_LOCKS / "0.output.lock", SNAKEMAKE_LOCKS / "1.output.lock"
    own.write_text("data/text.en\nresults/one/report.html\n")
    other.write_text("results/one-more/report.html\n")
    run = start(results)
    remove_left_locks(results)
    assert own.exists()
    run.kill()
    run.communicate()
    remove_left_locks(results)
    assert not own.exists() and other.exists()


def test_locks_go_that_were_left_before_there_were_results(results):
    SNAKEMAKE_LOCKS.mkdir(parents=True)
    (SNAKEMAKE_LOCKS / "0.input.lock").write_text("results/one/corpora/a.parquet\n")
    remove_left_locks(results)
    assert not list(SNAKEMAKE_LOCKS.iterdir()) and not results.exists()


def test_a_stopped_job_of_a_killed_run_is_named(results, monkeypatch):
    monkeypatch.setattr(folder_lock, "WAIT", 0.3)
    killed = f"{parent_watch.machine()} {2**22 + 1} 5"
    job = subprocess.Popen(["sleep", "600"], env={**os.environ, parent_watch.NAME: killed})
    try:
        job.send_signal(signal.SIGSTOP)
        with pytest.raises(
            InputError, match=rf"process {job.pid} \(stopped\).*: kill -9 {job.pid}$"
        ):
            hold(results)
    finally:
        job.kill()
        job.wait()


@pytest.mark.workflows
def test_a_second_run_in_another_folder_ends_in_a_line(tmp_path, start):
    """Both folders have the same results, by a link."""
    (tmp_path / "results").mkdir()
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results").symlink_to(tmp_path / "results")
    run = start(tmp_path / "first/results/tiny")
    options = ("--cores", "1", "--until", "import_test_set")
    refused = snakemake(tmp_path / "second", TINY, *options)
    assert refused.returncode == 1 and "Traceback" not in refused.stdout
    assert (
        f"results/tiny: a run of this experiment is under way (process {run.pid}" in refused.stdout
    )
    run.kill()
    run.communicate()
    assert snakemake(tmp_path / "second", TINY, *options).returncode == 0
    assert (tmp_path / "results/tiny" / LOCK).exists()
