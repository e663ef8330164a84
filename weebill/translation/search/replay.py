"""GPU functions that are recorded as graphs once and then replayed, and their memory at fixed addresses.

All inputs and outputs are in `FixedRows`.
"""

import logging
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from math import prod

import torch
from torch import Tensor

from weebill.kernels.cuda import avoid_slow_attention
from weebill.kernels.graphs import recorder_on

MOST = 256  # graphs that are kept; a server sees more shapes of batches, and each graph takes memory of the GPU
HEADROOM = 1.25  # a buffer that grows gets this multiple of the needed size, to grow seldom


class Replays:
    """Graphs of functions without arguments, by key; on a CPU, the functions themselves.

    possible: False once a recording has failed; functions then run as they are.
    """

    def __init__(self, device: torch.device):
        self._graphs: dict[Hashable, Callable[[], object]] = {}
        self.possible = True
        self._recorder = recorder_on(device)
        if device.type == "cuda":
            avoid_slow_attention()

    def __len__(self) -> int:
        return len(self._graphs)

    def clear(self) -> None:
        """Forget all graphs."""
        self._graphs.clear()
        self._recorder.forget()

    def running(self) -> AbstractContextManager[None]:
        """Return the context for calls of `run`, and for everything else that runs before a recording."""
        return self._recorder.running()

    def run(self, key: Hashable, make: Callable[[], Callable[[], None]]) -> None:
        """Run the function that `make` returns: a key's first run calls and records it, later runs replay it."""
        replay = self._graphs.pop(key, None)
        if replay is not None:
            self._graphs[key] = replay  # the last used one is last
            replay()
            return
        function = make()
        function()  # a plain call first, in which libraries choose their kernels and allocate memory
        if self.possible:
            self._record(key, function)

    def _record(self, key: Hashable, function: Callable[[], None]) -> None:
        """Record a function.  After a failure, keep none: functions refer to the networks, which should be freed."""
        try:
            self._graphs[key] = self._recorder.record(function)
            if len(self._graphs) > MOST:
                del self._graphs[next(iter(self._graphs))]
        except RuntimeError as error:
            self.possible = False
            logging.warning(
                "no CUDA graph can be captured; the search is slower without: %s", error
            )


class FixedRows:
    """Named tensors with a row for each sentence of a batch, each in a buffer of its own that all batches use.

    grown: called whenever a larger buffer replaces one; graphs with the old address are then invalid.
    """

    def __init__(self, device: torch.device, grown: Callable[[], None]):
        self.device, self._grown = device, grown
        self._buffers: dict[str, Tensor] = {}
        self._rows: dict[str, Tensor] = {}  # of the present batch

    def begin(self) -> None:
        """Begin a batch, which has no tensors yet."""
        self._rows.clear()

    def get(self, name: str, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Return the tensor of this name and shape; its first values in a batch are undefined."""
        found = self._rows.get(name)
        if found is not None and found.shape == shape and found.dtype == dtype:
            return found
        size = room = prod(shape)
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size or buffer.dtype != dtype:
            if buffer is not None:
                self._grown()
                room = int(HEADROOM * size)
                self._rows.pop(name, None)
                del self._buffers[name], buffer  # first, so that its memory is free
            buffer = torch.zeros(room, dtype=dtype, device=self.device)
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
