"""Worker processes pinned to cores: each keeps one object and calls its methods, so that it alone is measured."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from weebill.errors import InputError

Loaded = TypeVar("Loaded")
# What takes seconds to import, and every worker that measures translations wants.
IMPORTED = ("torch", "weebill.runtime.text", "weebill.translation.loading")


class Worker:
    """A process of its own on some cores.

    cores: those that all its threads stay on.  threads: of PyTorch, OpenMP and MKL.  environment: variables that
    libraries read when they are imported.  Objects and arguments travel by pickle, so they are of modules.
    Without both settings it is forked from a process that has imported PyTorch and done nothing else.
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
        # Thread pools are sized when the worker imports its libraries, so before any of its code runs.
        sizes = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
        with _environment({**sizes, **(environment or {})}):
            self._process.start()
        theirs.close()

    def make(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Let it keep function(*arguments); what it kept before is freed first."""
        self.begin(function, *arguments)
        self.answer()

    def begin(self, function: Callable[..., Any], *arguments: Any) -> None:
        """`make` without waiting, which is left to `answer`."""
        self._send(None, function, *arguments)

    def start(self, method: str, *arguments: Any) -> None:
        """Let it call a method of what it keeps, and go on here; `answer` waits for the result."""
        self._send(method, *arguments)

    def answer(self) -> Any:
        """What the method that was started last returned.  Raises InputError where it failed."""
        try:
            failure, result = self._connection.recv()
        except (EOFError, ConnectionError):
            failure = "the worker process ended (out of memory?)"
        if failure:
            raise InputError(failure)
        return result

    def call(self, method: str, *arguments: Any) -> Any:
        """`start`, then `answer`."""
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
        with suppress(ConnectionError):  # the process ended: `answer` says so
            self._connection.send(message)


@contextmanager
def pool(cores: Sequence[int], processes: int, threads: int = 1) -> Iterator[list[Worker]]:
    """Several workers, each on `threads` of the cores, none on another's."""
    workers: list[Worker] = []
    try:
        for index in range(processes):
            workers.append(Worker(cores[index * threads : (index + 1) * threads], threads))
        yield workers
    finally:
        for worker in workers:
            worker.close()


def usable_cores(limit: int | None = None) -> list[int]:
    """The cores that this process may use, at most `limit`."""
    return sorted(os.sched_getaffinity(0))[:limit]


def memory(peak: bool = False) -> float:
    """MiB of this process that are, or at most were, in memory."""
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
        """Return function(*arguments), timed."""
        start = time.perf_counter()
        loaded = function(*arguments)
        self._seconds = time.perf_counter() - start
        return loaded

    def figures(self) -> dict[str, float]:
        """Return load_seconds, and idle_mib and peak_mib, the memory before and the most until now."""
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
