"""Runs that are interrupted in all realistic ways, and finished afterwards."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import ForkProcess
from pathlib import Path

import psutil

from tests.forking import fork
from tests.workflow.running import become_snakemake, environment, snakemake, snakemake_command

PATIENCE = 60  # seconds until all processes of an interrupted run must be gone


def start(
    folder: Path, config: Path, *arguments: str, become: Callable[..., None] = become_snakemake
) -> ForkProcess:
    """Start a run whose process group can be killed; its output is appended to FOLDER/killed.log."""

    def run(output: int) -> None:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells make background jobs ignore it
        become(output, *snakemake_command(folder, config, *arguments)[3:])

    with (folder / "killed.log").open("ab") as log:
        return fork(run, log.fileno(), **environment())


def has_ended(process: ForkProcess, seconds: float) -> bool:
    """Wait at most `seconds` for the end of a run; return True if it has ended.

    `join` with a limit is not usable: it takes a fork that becomes another program for one that has ended.
    """
    limit = time.monotonic() + seconds
    while process.exitcode is None and time.monotonic() < limit:
        time.sleep(0.02)
    return process.exitcode is not None


def kill(process: ForkProcess) -> None:
    """Kill a started run with all its jobs."""
    _signal_all(process, signal.SIGKILL)


def _signal_all(process: ForkProcess, number: signal.Signals) -> None:
    os.killpg(process.pid, number)
    process.join()


def _terminate_all(process: ForkProcess) -> None:
    """Terminate a run, and kill it after a while, as cluster schedulers do.

    Snakemake may hang after SIGTERM: its handler waits for a lock that its own thread holds.
    """
    os.killpg(process.pid, signal.SIGTERM)
    if not has_ended(process, PATIENCE):
        kill(process)


def _kill_snakemake(process: ForkProcess) -> None:
    """Kill Snakemake alone; its jobs must notice and end."""
    process.kill()
    process.join()


def _kill_a_job(process: ForkProcess) -> None:
    """Kill the process of one job; Snakemake must end by itself."""
    jobs = [one for one in _below(process.pid) if _is_job(one)]
    if jobs:
        random.choice(jobs).kill()
    else:  # Snakemake still reads the workflow
        os.kill(process.pid, signal.SIGTERM)
    process.join()


WAYS: dict[str, Callable[[ForkProcess], None]] = {
    "SIGKILL to all": kill,
    "SIGTERM to all": _terminate_all,
    "Ctrl-C": lambda process: _signal_all(process, signal.SIGINT),
    "SIGKILL to a job": _kill_a_job,
    "SIGKILL to Snakemake": _kill_snakemake,
}


def interrupted_run(
    folder: Path,
    config: Path,
    interruptions: Iterable[tuple[float, str]],
    *arguments: str,
    become: Callable[..., None] = become_snakemake,
) -> tuple[subprocess.CompletedProcess, int]:
    """Run, interrupt the run after each given delay in seconds by the given way of WAYS, and let it finish.

    arguments: Snakemake's, in each run.  become: as for `snakemake`, for the interrupted runs; the last run is a
    fork.  Return the last run and the number of interruptions: a run may end before the next interruption.
    """
    told = 0
    for delay, way in interruptions:
        process = start(folder, config, *arguments, become=become)
        if has_ended(process, delay):
            assert process.exitcode == 0, (folder / "killed.log").read_text()
            break
        WAYS[way](process)
        told += 1
        print(f"{way} after {delay:.1f} s", flush=True)
        wait_for_the_end(folder)
    return snakemake(folder, config, "--rerun-incomplete", *arguments), told


def wait_for_the_end(folder: Path) -> None:
    """Wait until no process has the folder as its working directory; raise AssertionError if one stays."""
    limit = time.monotonic() + PATIENCE
    while left := [*_processes(folder)]:
        assert time.monotonic() < limit, f"these outlive their run: {left}"
        time.sleep(0.1)


def _processes(folder: Path) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(folder.resolve()):
                yield process
        except psutil.Error:  # the process has ended, or is not ours
            continue


def _below(process: int) -> list[psutil.Process]:
    try:
        return psutil.Process(process).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _is_job(process: psutil.Process) -> bool:
    try:
        return process.name().startswith("python") and "resource_tracker" not in str(
            process.cmdline()
        )
    except psutil.Error:  # the process has ended
        return False


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the files that only one of two results has, or that differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
