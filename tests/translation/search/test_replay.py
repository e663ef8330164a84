"""What a recorded function holds lives as long as its graph, which reads it at each replay."""

import gc
import weakref
from contextlib import nullcontext

import torch

from weebill.translation.search.replay import FixedRows, Replays


class Graph:
    """Graph of no device, which counts its replays."""

    replays = 0

    def replay(self):
        self.replays += 1


def test_a_graph_keeps_its_function(monkeypatch):
    graph = Graph()
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: graph)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    monkeypatch.setattr(Replays, "_capture", lambda self, made, function: None)
    replays = Replays(torch.device("cpu"))
    replays._cuda, replays._stream = True, None
    held, calls = [], []

    def make():
        numbers = torch.arange(3)  # small, and made for this function alone

        def function():
            calls.append(int(numbers.sum()))

        held.append(weakref.ref(function))
        return function

    for _ in range(3):
        replays.run("key", make)
    gc.collect()
    assert held[0]() is not None, "its numbers are read at each replay"
    assert (len(held), calls, graph.replays) == (1, [3], 2)
    replays._cuda = False
    replays.clear()
    gc.collect()
    assert held[0]() is None


def test_freed_memory_is_given_up():
    rows = FixedRows(torch.device("cpu"), lambda: None)
    held = weakref.ref(rows.get("tokens", (4, 2), torch.long))
    rows.free()
    gc.collect()
    assert held() is None
