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
def unrecorded(device: torch.device) -> Iterator[None]:
    """Let this thread record nothing, and work on a stream of its own if the device is a GPU.

    Recordings of a device share one stream and its generator of random numbers, so only one thread may record, and
    CUDA allows no other work in any thread meanwhile: that thread must not record before this context ends.
    """
    before = _RECORDS.set(False)
    on_gpu = device.type == "cuda"
    try:
        with torch.cuda.stream(_stream(device.index, "unrecorded")) if on_gpu else nullcontext():
            yield
    finally:
        _RECORDS.reset(before)


def recorder_on(device: torch.device) -> Recorder:
    """Return a recorder of graphs on a GPU, except in `unrecorded`; elsewhere one that calls the work."""
    return GraphRecorder(device) if device.type == "cuda" and _RECORDS.get() else PlainRecorder()


@cache
def _stream(index: int, use: str = "recorded") -> torch.cuda.Stream:
    """Return the one stream of a device for each use: libraries keep memory for each, 32 MiB on an H100."""
    return torch.cuda.Stream(index)
