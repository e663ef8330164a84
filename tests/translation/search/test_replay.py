"""Replays also run functions that cannot be recorded."""

import logging

import torch

from weebill.translation.search import replay
from weebill.translation.search.replay import Replays


def test_after_a_failed_recording_functions_run_and_are_not_kept(caplog):
    replays, number = Replays(torch.device("cpu")), torch.zeros(1)
    replays.run("add", lambda: lambda: number.add_(1))

    def record(work):
        raise RuntimeError("no stream")

    replays._recorder.record = record
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            replays.run("double", lambda: lambda: number.mul_(2))
            replays.run("add", lambda: lambda: number.add_(1))
    assert int(number) == 1 * 8 + 4 + 2 + 1
    assert caplog.text.count("no CUDA graph can be captured") == 1
    assert len(replays) == 1, "only what was recorded before"


def test_graphs_that_were_not_used_for_long_are_forgotten(monkeypatch):
    monkeypatch.setattr(replay, "MOST", 3)
    replays, made = Replays(torch.device("cpu")), []
    for key in (1, 2, 3, 4, 3, 1):
        replays.run(key, lambda key=key: lambda: made.append(key))
    assert len(replays) == 3
    assert made == [1, 2, 3, 4, 3, 1]
    assert list(replays._graphs) == [4, 3, 1]
