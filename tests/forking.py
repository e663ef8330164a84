"""Forks of the test's process, which has already imported modules that a new Python imports for seconds."""

import logging
import multiprocessing
import os
import runpy
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from multiprocessing import forkserver
from multiprocessing.context import ForkProcess
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest
import vl_convert

from weebill.evaluation.timing import processes

FORK = multiprocessing.get_context("fork")


def fork(work: Callable[..., Any], *arguments: Any, **variables: str) -> ForkProcess:
    """Start work(*arguments) in a fork with these environment variables."""

    def run() -> None:
        # Another thread of pytest may have held the lock of a handler's file.
        logging.getLogger().handlers.clear()
        # A fork server of an earlier test is no child of this process; if needed, this process starts its own.
        server = forkserver._forkserver
        server._forkserver_pid = server._forkserver_address = None
        os.environ.update(variables)
        work(*arguments)

    process = FORK.Process(target=run)
    process.start()
    return process


def run_in_fork(command: list[str], **_: Any) -> CompletedProcess:
    """Run `python -m MODULE ARGUMENT…` in a fork, in place of `subprocess.run`."""
    _python, _m, module, *arguments = command

    def work() -> None:
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)

    process = fork(work)
    process.join()
    return CompletedProcess(command, process.exitcode)


def draw_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process draw in one fork.

    Vega's first picture starts threads.  Later forks lack these threads, and would wait for them for ever.
    """
    here = os.getpid()
    names = ("vegalite_to_png", "vegalite_to_svg", "javascript_bundle")
    own = {name: getattr(vl_convert, name) for name in names}
    asking = cache(lambda: _start_drawing(own))

    def drawn(name: str, *arguments: Any, **options: Any) -> Any:
        if os.getpid() == here:
            return asking()(name, arguments, options)
        return own[name](*arguments, **options)

    for name in names:
        monkeypatch.setattr(vl_convert, name, partial(drawn, name))


def _start_drawing(functions: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """Fork a process that draws until this process ends; return a function that asks it for a picture."""
    ours, theirs = FORK.Pipe()

    def serve() -> None:
        ours.close()
        with suppress(EOFError):
            while True:
                name, arguments, options = theirs.recv()
                try:
                    theirs.send((functions[name](*arguments, **options), None))
                except Exception as error:
                    theirs.send((None, error))

    def ask(*request: Any) -> Any:
        ours.send(request)
        picture, error = ours.recv()
        if error is not None:
            raise error
        return picture

    FORK.Process(target=serve, daemon=True).start()
    theirs.close()
    return ask


def fork_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make workers that time models forks: new processes import for seconds (`test_processes.py`)."""
    fork = SimpleNamespace(get_context=lambda method: FORK)
    monkeypatch.setattr(processes, "multiprocessing", fork)

    def kill(worker, *_):  # forks have both ends of the pipe, so they see no end closed
        worker._process.kill()
        worker._process.join()

    monkeypatch.setattr(processes.Worker, "__exit__", kill)
