"""Forks of the test's process, which has already imported what a new Python takes seconds to import."""

import logging
import multiprocessing
import os
import runpy
import sys
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest

from weebill.evaluation.timing import processes

FORK = multiprocessing.get_context("fork")


def fork(work: Callable[..., Any], *arguments: Any, **variables: str) -> ForkProcess:
    """Start work(*arguments) in a fork with these environment variables."""

    def run() -> None:
        # Those of pytest: another of its threads may have held the lock of a file.
        logging.getLogger().handlers.clear()
        os.environ.update(variables)
        work(*arguments)

    process = FORK.Process(target=run)
    process.start()
    return process


def run_in_fork(command: list[str], **_: Any) -> CompletedProcess:
    """Run `python -m MODULE ARGUMENT…` in a fork; stands for `subprocess.run`."""
    _python, _m, module, *arguments = command

    def work() -> None:
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)

    process = fork(work)
    process.join()
    return CompletedProcess(command, process.exitcode)


def fork_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers that time models be forks: new processes import for seconds (`test_processes.py`)."""
    fork = SimpleNamespace(get_context=lambda method: FORK)
    monkeypatch.setattr(processes, "multiprocessing", fork)

    def kill(worker, *_):  # a fork holds both ends of its pipe, so it never sees one closed
        worker._process.kill()
        worker._process.join()

    monkeypatch.setattr(processes.Worker, "__exit__", kill)
