"""The opponent of `benchmark search` has the same weights, so it must write the same output."""

import pytest
import torch

from weebill.__main__ import main
from weebill.benchmarks import search as benchmark
from weebill.kernels.extension import available, has_bfloat16
from weebill.runtime.translator import Runtime


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(benchmark, "PIECES", {"demo.teacher": 100})
    monkeypatch.setattr(benchmark, "SENTENCES", 4)
    monkeypatch.setattr(benchmark, "LENGTHS", (7, 5))
    monkeypatch.setattr(benchmark, "HUGGING_FACE_BATCHES", (3,))


@pytest.mark.parametrize("beam", [1, 3])
def test_marian_twin_is_the_same_network(beam):
    """An independent implementation gives the same logits by teacher forcing and outputs of forced length."""
    network = benchmark.endless("demo.teacher")
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
    ours = benchmark.translate(Runtime([network], "portable"), sources, beam)
    theirs = benchmark.marian_translate(twin, sources, beam, batch_size=3)
    # At the limit, their search may choose a last piece; ours ends.
    assert len(theirs) == len(ours) == 8
    assert [len(tokens) - 2 for tokens in theirs] == [len(tokens) for tokens in ours]
    if beam == 1:
        assert [tokens[1:-1] for tokens in theirs] == ours


@pytest.mark.parametrize("fastest", ["float32", "bfloat16"])
def test_a_row_for_each_precision(fastest, monkeypatch):
    if fastest == "bfloat16" and not (available() and has_bfloat16(available()[0])):
        pytest.skip("this processor has no products of bfloat16 numbers")
    monkeypatch.setattr(benchmark, "fastest_precision", lambda device: fastest)
    rows = list(benchmark.run(rounds=1, arch=["demo.teacher"], beam=[2]))
    assert [
        f", {kind}, " in row.claim for row, kind in zip(rows, ("float32", "bfloat16"), strict=False)
    ]
    assert len(rows) == (1 if fastest == "float32" else 2)
    assert all(row.ours > 0 and row.other > 0 and row.rounds == 1 for row in rows)


@pytest.mark.parametrize(
    ("name", "message"), [("demo.taecher", "demo.teacher"), ("demo.tiny", "name a teacher")]
)
def test_what_cannot_be_measured_is_refused(name, message, capsys):
    assert main(["benchmark", "search", "--arch", name]) != 0
    assert message in capsys.readouterr().err
