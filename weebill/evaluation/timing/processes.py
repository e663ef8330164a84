"""Worker processes pinned to cores: each keeps one object and calls its methods, so that only these are measured."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from weebill.errors import InputError

Loaded = TypeVar("Loaded")
# Modules that take seconds to import and that every worker for translations needs.
IMPORTED = ("torch", "weebill.runtime.text", "weebill.translation.loading")


class Worker:
    """Process of its own on some cores.

    cores: those to which all its threads are pinned.  threads: number of threads for PyTorch, OpenMP and MKL.
    environment: variables that libraries read when they are imported.  Functions, arguments and results are
    pickled, so functions and classes must belong to a module.
    With one thread and no environment, the process is forked from one that has imported PyTorch and done nothing
    else.
    """

    def __init__(
        self, cores: Sequence[int], threads: int = 1, environment: Mapping[str, str] | None = None
    ):
        usual = threads == 1 and not environment
        context = multiprocessing.get_context("forkserver" if usual else "spawn")
        if usual:
            context.set_forkserver_preload(list(IMPORTED))
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, cores, threads), daemon=True)
        # Set these before the start: libraries size their thread pools when the worker imports them.
        sizes = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
        with _environment({**sizes, **(environment or {})}):
            self._process.start()
        theirs.close()

    def make(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Replace the worker's object by function(*arguments); the earlier object is freed first."""
        self.begin(function, *arguments)
        self.answer()

    def begin(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Do the same as `make` without waiting; `answer` waits."""
        self._send(None, function, *arguments)

    def start(self, method: str, *arguments: Any) -> None:
        """Let the worker call a method of its object, without waiting; `answer` waits for the result."""
        self._send(method, *arguments)

    def answer(self) -> Any:
        """Return the result of the method that was started last.  Raises InputError if it failed."""
        try:
            failure, result = self._connection.recv()
        except (EOFError, ConnectionError):
            failure = "the worker process ended (out of memory?)"
        if failure:
            raise InputError(failure)
        return result

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the worker's object; return its result."""
        self.start(method, *arguments)
        return self.answer()

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.join(timeout=5)
        if self._process.is_alive():
            self._process.terminate()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _send(self, *message: Any) -> None:
        with suppress(ConnectionError):  # the process ended; `answer` reports it
            self._connection.send(message)


@contextmanager
def pool(cores: Sequence[int], processes: int, threads: int = 1) -> Iterator[list[Worker]]:
    """Run several workers, each on `threads` cores of its own, until the block ends."""
    workers: list[Worker] = []
    try:
        for index in range(processes):
            workers.append(Worker(cores[index * threads : (index + 1) * threads], threads))
        yield workers
    finally:
        for worker in workers:
            worker.close()


def memory(peak: bool = False) -> float:
    """Return the MiB of this process that are in memory now, or the most so far if `peak`."""
    name = "VmHWM:" if peak else "VmRSS:"
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise InputError("/proc/self/status: tells no memory here; it is measured on Linux only")


class Footprint:
    """Memory of this process before and after it loads something, and the seconds that loading takes."""

    def __init__(self):
        self._idle, self._seconds = memory(), 0.0

    def load(self, function: Callable[..., Loaded], *arguments: Any) -> Loaded:
        """Call function(*arguments) and time it; return its result."""
        start = time.perf_counter()
        loaded = function(*arguments)
        self._seconds = time.perf_counter() - start
        return loaded

    def figures(self) -> dict[str, float]:
        """Return load_seconds, idle_mib (memory before loading) and peak_mib (the most memory so far)."""
        return {
            "load_seconds": self._seconds,
            "idle_mib": self._idle,
            "peak_mib": memory(peak=True),
        }


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _work(connection, cores: Sequence[int], threads: int) -> None:
    os.sched_setaffinity(0, cores)
    import torch

    torch.set_num_threads(threads)
    kept = None
    while True:
        try:
            method, *arguments = connection.recv()
        except EOFError:
            return
        try:
            result = None
            if method is None:
                kept = None
                function, *arguments = arguments
                kept = function(*arguments)
            else:
                result = getattr(kept, method)(*arguments)
            connection.send((None, result))
        except InputError as error:
            connection.send((str(error), None))
        except Exception as error:
            connection.send((f"{type(error).__name__}: {error}", None))
