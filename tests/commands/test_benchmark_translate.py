"""The opponent of `benchmark translate` holds the same weights: it must write the same output."""

import pytest
import torch

from goldcrest.commands.benchmarks import translate as benchmark


@pytest.fixture
def small(monkeypatch):
    sizes = {"WIDTH": 32, "HEADS": 4, "FEED_FORWARD": 64, "ENCODER_LAYERS": 2, "BATCH": 4}
    for name, value in sizes.items():
        monkeypatch.setattr(benchmark, name, value)


def test_marian_twin_is_the_same_network(small):
    """An independent implementation: logits by teacher forcing, and greedy output of forced length."""
    network = benchmark.tiny("attention", pieces=100)
    with torch.no_grad():
        network.embedding.weight.normal_()
    twin = benchmark.marian_twin(network)
    source = torch.randint(2, 100, (3, 7))
    target = torch.randint(2, 100, (3, 5))
    mask = torch.ones_like(source, dtype=torch.bool)
    start = torch.full((3, 1), -1)
    with torch.no_grad():
        hidden = network.decode(torch.cat([start, target], 1), network.encode(source, mask), mask)
        ours = network.logits(hidden)
        inputs = torch.cat([torch.full((3, 1), 100), target], 1)
        theirs = twin(input_ids=source, decoder_input_ids=inputs).logits[..., :100]
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)

    sources = benchmark.batches(pieces=100)
    ours = benchmark.translate(network, sources, beam=1)
    theirs = benchmark.marian_translate(twin, sources, beam=1)
    assert [tokens[1:-1] for tokens in theirs] == ours


def test_rows_are_measured(small, monkeypatch):
    """Every claim has a row, at a toy size."""
    monkeypatch.setattr(benchmark, "PIECES", 100)
    monkeypatch.setattr(benchmark, "LENGTHS", (6,))
    monkeypatch.setattr(benchmark.tiny, "__defaults__", (100,))
    monkeypatch.setattr(benchmark.batches, "__defaults__", (100,))
    rows = benchmark.run(rounds=1)
    assert [row.rounds for row in rows] == [1, 1, 1]
    assert all(row.ours > 0 and row.other > 0 for row in rows)
