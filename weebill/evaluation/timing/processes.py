"""Worker processes pinned to cores: each keeps one object and calls its methods, so that only calls are measured."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from weebill.errors import InputError
from weebill.evaluation.this_process import environment, usable_cores

# Modules that workers for translations import.
IMPORTED = ("torch", "weebill.runtime.text", "weebill.translation.loading")


class Worker:
    """Separate process on some cores, which ends with the block.

    cores: those to which all its threads are pinned; None: the last usable one.
    threads: number of threads for PyTorch, OpenMP and MKL.
    variables: environment variables that libraries read when they are imported.
    imported: modules that take seconds to import and that all workers of this process need.
    With one thread and no variables, the process is forked from one that has imported them and done nothing else.
    """

    def __init__(
        self,
        cores: list[int] | None = None,
        threads: int = 1,
        variables: Mapping[str, str] = {},
        imported: Sequence[str] = IMPORTED,
    ):
        usual = threads == 1 and not variables
        context = multiprocessing.get_context("forkserver" if usual else "spawn")
        if usual:
            context.set_forkserver_preload(list(imported))
        self._connection, theirs = context.Pipe()
        given = theirs, cores or usable_cores()[-1:], threads
        self._process = context.Process(target=_work, args=given, daemon=True)
        # Set these before the start: libraries size their thread pools when the worker imports them.
        sizes = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
        with environment({**sizes, **variables}):
            self._process.start()
        theirs.close()

    def start(self, work: str | Callable[..., Any], *arguments: Any) -> None:
        """Let the worker call a method of its object, without waiting; `answer` waits for the result.

        A function or class instead of a method's name makes a new object; the earlier one is freed first.
        Functions, arguments and results are pickled, so functions and classes must belong to a module.
        """
        with suppress(ConnectionError):  # the process ended; `answer` reports it
            self._connection.send((work, arguments))

    def answer(self) -> Any:
        """Return the result of the work started last, None for a new object.  Raises InputError if it failed."""
        try:
            failure, result = self._connection.recv()
        except (EOFError, ConnectionError):
            failure = "the worker process ended (out of memory?)"
        if failure:
            raise InputError(failure)
        return result

    def call(self, work: str | Callable[..., Any], *arguments: Any) -> Any:
        """Start work as `start` does, wait, and return its result."""
        self.start(work, *arguments)
        return self.answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self._connection.close()
        self._process.join(timeout=5)
        if self._process.is_alive():
            self._process.terminate()


def _work(connection, cores: list[int], threads: int) -> None:
    os.sched_setaffinity(0, cores)
    import torch

    torch.set_num_threads(threads)
    kept = None
    while True:
        try:
            work, arguments = connection.recv()
        except EOFError:
            return
        try:
            result = None
            if isinstance(work, str):
                result = getattr(kept, work)(*arguments)
            else:
                kept = None
                kept = work(*arguments)
            connection.send((None, result))
        except InputError as error:
            connection.send((str(error), None))
        except Exception as error:
            connection.send((f"{type(error).__name__}: {error}", None))


@contextmanager
def pool(cores: list[int], processes: int, threads: int = 1) -> Iterator[list[Worker]]:
    """Run several workers, each on `threads` cores of its own, until the block ends."""
    places = [cores[index * threads : (index + 1) * threads] for index in range(processes)]
    with ExitStack() as stack:
        yield [stack.enter_context(Worker(place, threads)) for place in places]


def memory(peak: bool = False) -> float:
    """Return the resident MiB of this process: now, or the most so far if `peak`."""
    name = "VmHWM:" if peak else "VmRSS:"
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise InputError("/proc/self/status: tells no memory here; it is measured on Linux only")


def load_measured(function: Callable[..., Any], *arguments: Any) -> tuple[Any, dict[str, float]]:
    """Call function(*arguments); return its result, load_seconds, and idle_mib (memory before the call)."""
    idle, start = memory(), time.perf_counter()
    loaded = function(*arguments)
    return loaded, {"load_seconds": time.perf_counter() - start, "idle_mib": idle}
