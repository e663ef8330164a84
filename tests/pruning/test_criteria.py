"""Scores of heads and neurons against written-out definitions: factors at one, norms by loops."""

import pytest
import torch

from tests.pruning.toy import HEADS, LAYERS, NEURONS, ToyStudy, toy, toy_batch
from weebill.errors import InputError
from weebill.pruning.criteria import CRITERIA, Candidates
from weebill.pruning.cut import cut

MODEL_BATCHES = (201, 202, 203)  # seeds of the batches that ToyStudy.gradients goes through


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
            owned = [value.detach() for value in block.head(head).values()]
            assert score == pytest.approx(float(sum(w.square().sum() for w in owned) ** 0.5))
    for block in model.feed_forward_blocks():
        for neuron, score in enumerate(scores.neurons[block.name]):
            owned = [value.detach() for value in block.neuron(neuron).values()]
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
