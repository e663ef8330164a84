"""Scores of heads and neurons, compared with their definitions: gradients of factors, norms, and loops."""

from types import SimpleNamespace

import pytest
import torch

from tests.pruning.owned import of_head, of_neuron
from tests.pruning.toy import HEADS, LAYERS, NEURONS, ToyStudy, small_translator, toy, toy_batch
from weebill.errors import InputError
from weebill.pruning.criteria import CRITERIA, Candidates, ConfidenceAccumulator
from weebill.pruning.cut import cut

MODEL_BATCHES = (201, 202, 203)  # seeds of the batches of ToyStudy.gradients


def both_kinds(model, pattern="*"):
    return Candidates.named(model, pattern, heads=True, neurons=True)


def test_candidates_are_the_blocks_that_match():
    model = toy()
    chosen = Candidates.named(model, "encoder.1.*", heads=True, neurons=False)
    assert [block.name for block in chosen.attention] == ["encoder.1.attention"]
    assert not chosen.feed_forward
    assert len(both_kinds(model).feed_forward) == LAYERS


def gradients_of_factors(study, model):
    """Return |∂loss/∂m| at m = 1, summed over batches, where m multiplies the output of each head and neuron."""
    heads = [torch.ones(HEADS, dtype=torch.double, requires_grad=True) for _ in model.layers]
    neurons = [torch.ones(NEURONS, dtype=torch.double, requires_grad=True) for _ in model.layers]
    model = model.double()
    for layer, of_heads, of_neurons in zip(model.layers, heads, neurons, strict=True):
        layer.o.register_forward_pre_hook(
            lambda _, x, m=of_heads: (x[0] * m.repeat_interleave(x[0].shape[-1] // HEADS),)
        )
        layer.down.register_forward_pre_hook(lambda _, x, m=of_neurons: (x[0] * m,))
    factors = heads + neurons
    totals = [torch.zeros_like(factor) for factor in factors]
    for seed in MODEL_BATCHES:
        x, mask = toy_batch(seed)
        loss = study.loss(model, x.double(), mask)
        for total, gradient in zip(totals, torch.autograd.grad(loss, factors), strict=True):
            total += gradient.abs()
    return [total.detach().tolist() for total in totals]


def test_gradient_scores_are_the_derivatives_by_a_factor_on_the_output():
    study, model = ToyStudy(), toy()
    scores = CRITERIA["gradient"](study, model, both_kinds(model))
    expected = gradients_of_factors(study, toy())
    for layer in range(LAYERS):
        assert scores.heads[f"encoder.{layer}.attention"] == pytest.approx(
            expected[layer], rel=1e-4
        )
        neurons = scores.neurons[f"encoder.{layer}.neurons"]
        assert neurons == pytest.approx(expected[LAYERS + layer], rel=1e-4)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_gradient_scores_of_a_block_without_heads_are_none():
    study, model = ToyStudy(), toy()
    cut(model, {"encoder.0.attention": range(HEADS)}, {"encoder.1.neurons": range(NEURONS)})
    scores = CRITERIA["gradient"](study, model, both_kinds(model))
    assert scores.heads["encoder.0.attention"] == []
    assert scores.neurons["encoder.1.neurons"] == []
    assert len(scores.heads["encoder.1.attention"]) == HEADS


def test_magnitude_is_the_norm_of_all_that_a_head_or_neuron_owns():
    model = toy()
    scores = CRITERIA["magnitude"](ToyStudy(), model, both_kinds(model))
    for block in model.attention_blocks():
        for head, score in enumerate(scores.heads[block.name]):
            owned = [value.detach() for value in of_head(block, head).values()]
            assert score == pytest.approx(float(sum(w.square().sum() for w in owned) ** 0.5))
    for block in model.feed_forward_blocks():
        for neuron, score in enumerate(scores.neurons[block.name]):
            owned = [value.detach() for value in of_neuron(block, neuron).values()]
            assert score == pytest.approx(float(sum(w.square().sum() for w in owned) ** 0.5))


def test_random_choice_follows_the_seed_and_is_drawn_anew_when_heads_have_gone():
    def draw(seed, gone=()):
        study, model = ToyStudy(), toy()
        study.seed = seed
        cut(model, {"encoder.2.attention": gone})
        return CRITERIA["random"](study, model, both_kinds(model))

    assert draw(1) == draw(1)
    assert draw(1).heads != draw(2).heads
    first = "encoder.0.attention"
    assert draw(1).heads[first] != draw(1, gone=[0]).heads[first]
    values = [value for scores in draw(1).neurons.values() for value in scores]
    assert all(0 <= value < 1 for value in values) and len(set(values)) == LAYERS * NEURONS


def test_neurons_have_no_confidence():
    model = toy()
    with pytest.raises(InputError, match="scores heads, not neurons; choose 'gradient'"):
        CRITERIA["confidence"](ToyStudy(), model, both_kinds(model))


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


def head_confidence(weights, mask=None):
    """Return the accumulated confidence of a single forward pass, (heads,)."""
    block = SimpleNamespace(name="block", heads=weights.shape[1])
    accumulator = ConfidenceAccumulator([block])
    accumulator.add("block", weights, mask)
    return torch.tensor(accumulator.result()["block"])


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
    with pytest.raises(ValueError, match="no attention was recorded"):
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
