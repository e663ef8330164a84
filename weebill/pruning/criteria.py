"""Pruning criteria: scores of heads and neurons; the lowest are removed first.

Confidence: WNGT20 §4.  Gradient: COMETINHO §4.2, the TextPruner recipe (Michel et al. 2019).
Magnitude and random choice are baselines for the other criteria.

Shapes: d model width, h heads, k head size, f neurons.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self

import torch
from torch import Tensor

from weebill.errors import InputError
from weebill.pruning.confidence import ConfidenceAccumulator
from weebill.pruning.ranking import BlockScores, Scores
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection, Prunable
from weebill.pruning.study import Study


@dataclass(frozen=True)
class Candidates:
    """Blocks of a model that may lose heads or neurons."""

    attention: Sequence[AttentionBlock] = ()
    feed_forward: Sequence[FeedForwardBlock] = ()

    @classmethod
    def named(cls, model: Prunable, pattern: str, *, heads: bool, neurons: bool) -> Self:
        """Select the blocks of one or both kinds whose names match a pattern such as "encoder.*"."""
        attention = model.attention_blocks() if heads else ()
        feed_forward = model.feed_forward_blocks() if neurons else ()
        return cls(
            [block for block in attention if fnmatchcase(block.name, pattern)],
            [block for block in feed_forward if fnmatchcase(block.name, pattern)],
        )


Criterion = Callable[[Study, Prunable, Candidates], Scores]


def confidence(study: Study, model: Prunable, candidates: Candidates) -> Scores:
    """Average each head's largest attention weight over the study's validation text.

    Raises InputError if there are neurons among the candidates: they have no attention weights.
    """
    if candidates.feed_forward:
        raise InputError("pruning: confidence scores heads, not neurons; choose 'gradient'")
    accumulator = ConfidenceAccumulator(candidates.attention)
    with accumulator.recording():
        study.observe(model)
    return Scores(heads=accumulator.result())


def gradient(study: Study, model: Prunable, candidates: Candidates) -> Scores:
    """Sum over batches |Σ gradient ⊙ weight| of each head's slice of `out` or each neuron's column of `outer`.

    This is |∂loss/∂m| at m = 1 for a factor m of the head's or neuron's output.
    """
    heads = {block.name: torch.zeros(block.heads).double() for block in candidates.attention}
    neurons = {block.name: torch.zeros(block.neurons).double() for block in candidates.feed_forward}
    for _ in study.gradients(model):
        for block in candidates.attention:
            heads[block.name] += _by_head(_products(block.out), block).abs()
        for block in candidates.feed_forward:
            neurons[block.name] += _products(block.outer).abs()
    return Scores(_lists(heads), _lists(neurons))


def magnitude(study: Study, model: Prunable, candidates: Candidates) -> Scores:
    """Compute the L2 norm of all the weights and biases that a head or neuron owns."""
    heads, neurons = {}, {}
    for block in candidates.attention:
        squares = _by_head(block.out.weight.detach().double().square().sum(0), block)
        for projection in (block.query, block.key, block.value):
            squares += _by_head(_squares_of_outputs(projection), block)
        heads[block.name] = squares.sqrt()
    for block in candidates.feed_forward:
        squares = block.outer.weight.detach().double().square().sum(0)
        for projection in block.inward:
            squares += _squares_of_outputs(projection)
        neurons[block.name] = squares.sqrt()
    return Scores(_lists(heads), _lists(neurons))


def random_choice(study: Study, model: Prunable, candidates: Candidates) -> Scores:
    """Draw scores uniformly from (0, 1); they depend on the study's seed and on the number of remaining parts."""
    widths = {block.name: block.heads for block in candidates.attention}
    widths |= {block.name: block.neurons for block in candidates.feed_forward}
    generator = torch.Generator().manual_seed(hash((study.seed, sum(widths.values()))) % 2**63)
    draws = {name: torch.rand(width, generator=generator) for name, width in widths.items()}
    return Scores(
        _lists({block.name: draws[block.name] for block in candidates.attention}),
        _lists({block.name: draws[block.name] for block in candidates.feed_forward}),
    )


CRITERIA: dict[str, Criterion] = {
    "confidence": confidence,
    "gradient": gradient,
    "magnitude": magnitude,
    "random": random_choice,
}


def _products(projection: Projection) -> Tensor:
    """Return, for each input of a projection, the sum of gradient ⊙ weight over its outputs, (inputs,)."""
    gradients = projection.gradient
    if gradients is None:  # the loss does not depend on the projection
        return torch.zeros(projection.inputs).double()
    return (gradients.double() * projection.weight.detach().double()).sum(0).cpu()


def _by_head(values: Tensor, block: AttentionBlock) -> Tensor:
    """Sum the k values of each head: (h·k,) → (h,)."""
    return values.cpu().unflatten(0, (block.heads, block.head_size)).sum(1)


def _squares_of_outputs(projection: Projection) -> Tensor:
    """Return the sum of squared weights and bias for each output of a projection, (outputs,)."""
    squares = projection.weight.detach().double().square().sum(1).cpu()
    if projection.bias is not None:
        squares += projection.bias.detach().double().square().cpu()
    return squares


def _lists(scores: Mapping[str, Tensor]) -> BlockScores:
    return {name: values.tolist() for name, values in scores.items()}
