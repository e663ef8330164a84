"""Recorders of work as CUDA graphs, and their stand-in for other devices.

A graph repeats the same kernels at the same addresses, so its inputs and outputs must stay in place.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any, Protocol

import torch

Work = Callable[[], object]


class Recorder(Protocol):
    """Way to run work, and to record it."""

    def running(self) -> AbstractContextManager[None]:
        """Return the context in which all work runs, recorded or not."""

    def record(self, work: Work) -> Work:
        """Return a function that repeats the work in the same memory; do not run it.  RuntimeError if impossible."""

    def forget(self) -> None:
        """Give later recordings other memory than earlier ones, which are no longer used."""


class PlainRecorder:
    """Recorder that calls the work each time, on any device."""

    def running(self) -> AbstractContextManager[None]:
        return nullcontext()

    def record(self, work: Work) -> Work:
        return work

    def forget(self) -> None:
        pass


class GraphRecorder:
    """Recorder of CUDA graphs, which share one pool of memory: only one of them may run at a time.

    All work runs on one stream.  Autograd adds gradients on the stream where a weight was first used, which must be
    the recorded one.
    """

    def __init__(self, device: torch.device | None = None) -> None:
        """Record on a device; None: the current one."""
        index = None if device is None else device.index
        self._stream = _stream(torch.cuda.current_device() if index is None else index)
        self.forget()

    @contextmanager
    def running(self) -> Iterator[None]:
        before = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(before)
        with torch.cuda.stream(self._stream):
            yield
        before.wait_stream(self._stream)

    def record(self, work: Work) -> Work:
        graph = torch.cuda.CUDAGraph()
        # A failed recording leaves its stream the current one; this context restores the former.
        with torch.cuda.stream(torch.cuda.current_stream(self._stream.device)):
            try:
                self._capture(graph, work, pool=self._pool)
            except RuntimeError:
                self._failed = graph  # the memory allocator may still refer to it
                # The generator of random numbers stays in recording mode until a recording succeeds.
                device = self._stream.device
                self._capture(torch.cuda.CUDAGraph(), lambda: torch.zeros(1, device=device))
                raise
        return graph.replay

    def forget(self) -> None:
        self._pool = torch.cuda.graph_pool_handle()

    def _capture(self, graph: torch.cuda.CUDAGraph, work: Work, **options: Any) -> None:
        # Another thread may allocate, or pin memory for the next batches, at the same time.
        mode = "thread_local"
        with torch.cuda.graph(graph, stream=self._stream, capture_error_mode=mode, **options):
            work()


_RECORDS = ContextVar("records", default=True)


@contextmanager
def unrecorded(stream: torch.cuda.Stream | None) -> Iterator[None]:
    """Let this thread work on a GPU's stream and record nothing, because another thread may record at any time.

    All recordings of a device share its generator of random numbers and one stream.  None: this is not a GPU.
    """
    before = _RECORDS.set(False)
    try:
        with nullcontext() if stream is None else torch.cuda.stream(stream):
            yield
    finally:
        _RECORDS.reset(before)


def recorder_on(device: torch.device) -> Recorder:
    """Return a recorder of graphs on a GPU, except in `unrecorded`; elsewhere one that calls the work."""
    return GraphRecorder(device) if device.type == "cuda" and _RECORDS.get() else PlainRecorder()


@cache
def _stream(index: int) -> torch.cuda.Stream:
    """Return the one stream of all recorders of a device: libraries keep memory for each, 32 MiB on an H100."""
    return torch.cuda.Stream(index)
