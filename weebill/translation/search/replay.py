"""Functions on a GPU that are captured as graphs once and then replayed, and memory that stays where it is for them.

A graph repeats the same kernels at the same addresses.  So all that goes in and comes out lies in `FixedRows`.
"""

import logging
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from math import prod

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
HEADROOM = 1.25  # a buffer that has to grow gets this share of the needed size, so that few do


class Replays:
    """Graphs of functions without arguments, by key; on a CPU the functions themselves.

    possible: False once a capture has failed; functions then run as they are.
    """

    def __init__(self, device: torch.device):
        self._graphs: dict[Hashable, Callable[[], object]] = {}
        self._device, self._cuda, self.possible = device, device.type == "cuda", True
        if self._cuda:
            self._stream = _stream(device)
        self.clear()

    def __len__(self) -> int:
        return len(self._graphs)

    def clear(self) -> None:
        """Forget all graphs."""
        self._graphs.clear()
        if self._cuda:
            # Nothing outside of fixed memory outlives a replay, and graphs run one after the other: they can share
            # memory.  That of forgotten graphs must not be named again.
            self._pool = torch.cuda.graph_pool_handle()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Compute all that is called within the context on a stream on which graphs can be captured."""
        if not self._cuda:
            yield
            return
        before = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(before)
        # cuDNN's attention would prepare something slow for each shape.
        with torch.cuda.stream(self._stream), sdpa_kernel(ATTENTION):
            yield
        before.wait_stream(self._stream)

    def run(self, key: Hashable, make: Callable[[], Callable[[], None]]) -> None:
        """Run the function that `make` returns; once for a key it is run itself, and captured, later replayed."""
        replay = self._graphs.get(key)
        if replay is not None:
            replay()
            return
        function = make()
        function()  # real work, in which libraries choose their kernels and make their own memory
        self._graphs[key] = self._captured(function) if self._cuda else function

    def _captured(self, function: Callable[[], None]) -> Callable[[], None]:
        """Return the replay of a function; the function itself, with a warning, if it cannot be captured."""
        if not self.possible:
            return function
        graph = torch.cuda.CUDAGraph()
        # A capture that fails leaves its stream the present one, which this context undoes.
        with torch.cuda.stream(self._stream):
            try:
                self._capture(graph, function)
            except RuntimeError as error:
                self.possible = False
                logging.warning(
                    "no CUDA graph can be captured; the search is slower without: %s", error
                )
                self._failed = graph  # the allocator may still ask it
                self._pool = torch.cuda.graph_pool_handle()
                # Generators of random numbers believe that they are captured until a capture succeeds.
                self._capture(torch.cuda.CUDAGraph(), lambda: torch.zeros(1, device=self._device))
                return function
        return partial(_replay, graph, function)

    def _capture(self, graph: torch.cuda.CUDAGraph, function: Callable[[], object]) -> None:
        # Other threads may allocate meanwhile.
        keywords = {"pool": self._pool, "stream": self._stream}
        with torch.cuda.graph(graph, capture_error_mode="thread_local", **keywords):
            function()


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """Return the one stream of all searches on a device: libraries keep memory for each, 32 MiB on an H100."""
    return torch.cuda.Stream(device)


def _replay(graph: torch.cuda.CUDAGraph, function: Callable[[], None]) -> None:
    """Replay a graph; its function lives as long, for it holds small tensors that the graph reads."""
    graph.replay()


class FixedRows:
    """Named tensors with a row for each sentence of a batch, each in a buffer of its own that all batches use.

    grown: called whenever a buffer is replaced by a larger one; graphs with its old address are void then.
    """

    def __init__(self, device: torch.device, grown: Callable[[], None]):
        self.device, self._grown = device, grown
        self._buffers: dict[str, Tensor] = {}
        self._rows: dict[str, Tensor] = {}  # of the present batch

    def begin(self) -> None:
        """Begin a batch, of which no tensor exists yet."""
        self._rows.clear()

    def get(self, name: str, shape: tuple[int, ...], dtype: torch.dtype, least: int = 0) -> Tensor:
        """Return the tensor of this name and shape; its values are undefined at first in a batch, but finite.

        least: smallest number of values for which a new buffer has room.
        """
        found = self._rows.get(name)
        if found is not None and found.shape == shape and found.dtype == dtype:
            return found
        size, buffer = prod(shape), self._buffers.get(name)
        if buffer is None or len(buffer) < size or buffer.dtype != dtype:
            if buffer is not None:
                self._grown()
                least = max(least, int(HEADROOM * size))
                self._rows.pop(name, None)
                del self._buffers[name], buffer  # first, so that its memory is free
            buffer = torch.zeros(max(size, least), dtype=dtype, device=self.device)
            self._buffers[name] = buffer
        self._rows[name] = buffer[:size].view(shape)
        return self._rows[name]

    def free(self) -> None:
        """Give up all buffers."""
        self._rows.clear()
        self._buffers.clear()

    def keep(self, order: Tensor) -> None:
        """Keep the rows `order` (rows,) of every tensor, in this order."""
        for name, old in self._rows.items():
            kept = old.index_select(0, order)
            self._rows[name] = self._buffers[name][: kept.numel()].view(kept.shape)
            self._rows[name].copy_(kept)
