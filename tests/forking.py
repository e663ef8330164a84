"""Forks of the test's process, which has already imported what a new Python takes seconds to import."""

import logging
import multiprocessing
import os
import runpy
import sys
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from subprocess import CompletedProcess
from typing import Any

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
