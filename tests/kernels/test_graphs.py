"""Recorders of CUDA graphs, as far as they can be tested without a GPU."""

import torch

from weebill.kernels import graphs


def test_all_recorders_of_a_device_share_its_stream(monkeypatch):
    """A training records on the current device, and its validations on the device of their tensors: the same."""
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: ["stream", device])
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", object)
    graphs._stream.cache_clear()
    places = None, torch.device("cuda"), torch.device("cuda:1"), torch.device("cuda:0")
    try:
        own, same, named, other = (graphs.GraphRecorder(place)._stream for place in places)
    finally:
        graphs._stream.cache_clear()
    assert own is same is named and own == ["stream", 1]
    assert other == ["stream", 0]
