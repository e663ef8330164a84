"""Head confidence against loops over single weights, and the choice of the least confident heads."""

import pytest
import torch

from tests.pruning.toy import small_translator, toy, toy_batch
from weebill.errors import InputError
from weebill.pruning.confidence import (
    ConfidenceAccumulator,
    head_confidence,
)
from weebill.pruning.cut import cut


def by_loops(weights, mask):
    """Return the confidence of each head, one float at a time."""
    confidence = []
    for head in range(weights.shape[1]):
        largest = []
        for sentence in range(weights.shape[0]):
            for query in range(weights.shape[2]):
                if mask[sentence, query]:
                    row = weights[sentence, head, query].tolist()
                    largest.append(max(row))
        confidence.append(sum(largest) / len(largest))
    return confidence


def test_head_confidence_equals_loops():
    weights = torch.randn(4, 3, 6, 9).softmax(-1)
    mask = torch.arange(6)[None, :] < torch.tensor([6, 1, 4, 3])[:, None]
    assert head_confidence(weights, mask).tolist() == pytest.approx(by_loops(weights, mask))
    everything = torch.ones(4, 6, dtype=torch.bool)
    assert head_confidence(weights).tolist() == pytest.approx(by_loops(weights, everything))


def test_padding_queries_do_not_count_even_where_they_are_no_numbers():
    weights = torch.randn(1, 2, 3, 3).softmax(-1)
    mask = torch.tensor([[True, True, False]])
    expected = head_confidence(weights[:, :, :2], mask[:, :2])
    weights[:, :, 2] = torch.nan
    assert torch.equal(head_confidence(weights, mask), expected)


def test_no_token_is_an_error():
    with pytest.raises(ValueError, match="no query position"):
        head_confidence(torch.ones(1, 2, 3, 1), torch.zeros(1, 3, dtype=torch.bool))


def test_accumulated_over_batches_of_any_size_as_over_one():
    model = toy()
    batches = [toy_batch(seed, rows, positions) for seed, rows, positions in [(1, 5, 7), (2, 2, 9)]]
    seen = {}
    for block in model.attention_blocks():
        block.set_recorder(lambda w, m, name=block.name: seen.setdefault(name, []).append((w, m)))
    with torch.no_grad():
        for batch in batches:
            model(*batch)
        accumulator = ConfidenceAccumulator(model.attention_blocks())
        with accumulator.recording():
            for batch in batches:
                model(*batch)
    for name, recorded in seen.items():
        counts = [int(mask.sum()) for _, mask in recorded]
        parts = [by_loops(weights, mask) for weights, mask in recorded]
        expected = [
            sum(c * part[head] for c, part in zip(counts, parts, strict=True)) / sum(counts)
            for head in range(4)
        ]
        assert accumulator.result()[name] == pytest.approx(expected, abs=1e-12)
    assert all(layer.recorder is None for layer in model.layers), "recorders stay behind"


def test_the_translation_network_reports_its_weights():
    network = small_translator("ssru")
    cut(network, {"encoder.1.self_attention": [0, 1, 2, 3]})
    source = torch.randint(2, 50, (3, 6))
    mask = torch.arange(6)[None, :] < torch.tensor([6, 4, 2])[:, None]
    first, second = network.attention_blocks()[:2]
    with torch.no_grad():
        plain = network.encode(source, mask)
        accumulator = ConfidenceAccumulator([first, second])
        with accumulator.recording():
            recorded = network.encode(source, mask)
        torch.testing.assert_close(recorded[mask], plain[mask], rtol=0, atol=1e-5)
        attention, x = network.encoder[0].self_attention, network.embed(source)
        q, k = attention.split(attention.query(x)), attention.split(attention.key(x))
        scores = torch.einsum("bhqk,bhjk->bhqj", q.double(), k.double()) / 5**0.5
        weights = scores.masked_fill(~mask[:, None, None, :], -torch.inf).softmax(-1)
    assert accumulator.result() == {
        first.name: pytest.approx(by_loops(weights, mask), abs=1e-6),
        second.name: [],
    }


def test_blocks_that_were_not_used_or_cannot_report_are_errors():
    model = toy()
    with pytest.raises(ValueError, match=r"encoder\.0\.attention: no attention was recorded"):
        ConfidenceAccumulator(model.attention_blocks()).result()
    block = model.attention_blocks()[0]
    block.set_recorder = None
    recording = ConfidenceAccumulator([block]).recording()
    with pytest.raises(ValueError, match="gives no attention weights"), recording:
        pass


def test_a_diverged_training_is_named():
    block = toy().attention_blocks()[0]
    accumulator = ConfidenceAccumulator([block])
    accumulator.add(block.name, torch.full((1, block.heads, 2, 2), torch.nan), None)
    with pytest.raises(InputError, match=r"0\.attention: attention weights .*learning_rate"):
        accumulator.result()
