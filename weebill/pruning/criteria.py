"""Pruning criteria: scores of heads and neurons; the lowest are removed first.

Confidence: WNGT20 §4, after Voita et al. 2019.  Gradient: COMETINHO §4.2, the TextPruner recipe (Michel et al. 2019).
Magnitude and random choice are baselines for the other criteria.  Shapes: h heads, k head size.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Self

import torch
from torch import Tensor

from weebill.errors import InputError
from weebill.pruning.method import BlockScores, Protected, Scores
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection, Prunable
from weebill.pruning.study import Study


@dataclass(frozen=True)
class Candidates:
    """Blocks of a model that may lose heads or neurons."""

    attention: Sequence[AttentionBlock] = ()
    feed_forward: Sequence[FeedForwardBlock] = ()

    @classmethod
    def named(cls, model: Prunable, pattern: str, heads: float, neurons: float) -> Self:
        """Select the blocks whose names match a pattern such as "encoder.*"; a share of 0 leaves out a kind."""
        attention = model.attention_blocks() if heads else ()
        feed_forward = model.feed_forward_blocks() if neurons else ()
        return cls(
            [block for block in attention if fnmatchcase(block.name, pattern)],
            [block for block in feed_forward if fnmatchcase(block.name, pattern)],
        )

    @property
    def protected(self) -> Protected:
        """Heads that pruning must keep, by block."""
        return {block.name: block.protected for block in self.attention}


Criterion = Callable[[Study, Prunable, Candidates], Scores]


def confidence(study: Study, model: Prunable, candidates: Candidates) -> Scores:
    """Average each head's largest attention weight over the study's validation text; InputError for neurons."""
    if candidates.feed_forward:
        raise InputError("pruning: confidence scores heads, not neurons; choose 'gradient'")
    accumulator = ConfidenceAccumulator(candidates.attention)
    with accumulator.recording():
        study.observe(model)
    return Scores(heads=accumulator.result())


def gradient(study: Study, model: Prunable, candidates: Candidates) -> Scores:
    """Sum over batches |Σ gradient ⊙ weight| = |∂loss/∂m| for a factor m = 1 of each head's or neuron's output."""
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
    heads = {block.name: block.heads for block in candidates.attention}
    neurons = {block.name: block.neurons for block in candidates.feed_forward}
    total = sum([*heads.values(), *neurons.values()])
    draw = torch.Generator().manual_seed(hash((study.seed, total)) % 2**63)
    return Scores(
        {name: torch.rand(width, generator=draw).tolist() for name, width in heads.items()},
        {name: torch.rand(width, generator=draw).tolist() for name, width in neurons.items()},
    )


CRITERIA: dict[str, Criterion] = {
    "confidence": confidence,
    "gradient": gradient,
    "magnitude": magnitude,
    "random": random_choice,
}


class ConfidenceAccumulator:
    """Confidence of the heads of some blocks: their largest attention weights, averaged over all query positions."""

    def __init__(self, blocks: Iterable[AttentionBlock]):
        self.blocks = list(blocks)
        self._totals = {block.name: torch.zeros(block.heads).double() for block in self.blocks}
        self._counts = dict.fromkeys(self._totals, 0)

    def add(self, name: str, attention: Tensor, queries: Tensor | None) -> None:
        """Add a pass of a block: attention (batch, h, queries, keys); queries (batch, queries), True for a token."""
        largest = attention.detach().amax(-1).double()  # (batch, h, queries)
        heads = len(self._totals[name])
        if 0 < heads < largest.shape[1]:  # a group counts as the mean of its heads
            largest = largest.unflatten(1, (heads, -1)).mean(2)
        if queries is None:
            queries = torch.ones_like(largest[:, 0], dtype=torch.bool)
        # `where` and not a product: a padded row may attend to nothing and hold NaN.
        self._totals[name] += largest.where(queries[:, None], 0.0).sum((0, 2)).cpu()
        self._counts[name] += int(queries.sum())

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Add every forward pass within the context.  Raises ValueError if a family reports no weights."""
        for block in self.blocks:
            if block.set_recorder is None:
                raise ValueError(f"{block.name}: its family gives no attention weights to record")
        with ExitStack() as stack:
            for block in self.blocks:
                block.set_recorder(partial(self.add, block.name))
                stack.callback(block.set_recorder, None)
            yield

    def result(self) -> dict[str, list[float]]:
        """Return the confidence of each head by block.  Raises ValueError for an unused block, InputError for NaN."""
        confidence = {}
        for block in self.blocks:
            count = self._counts[block.name]
            if block.heads and not count:
                raise ValueError(f"{block.name}: no attention was recorded")
            values = self._totals[block.name] / max(count, 1)  # (h,)
            if not values.isfinite().all():
                raise InputError(
                    f"{block.name}: attention weights are not finite, training diverged; "
                    "lower training.learning_rate"
                )
            confidence[block.name] = values.tolist()
        return confidence


def _products(projection: Projection) -> Tensor:
    """Return, for each input of a projection, the sum of gradient ⊙ weight over its outputs, (inputs,)."""
    gradients = projection.gradient
    if gradients is None:  # the loss does not depend on the projection
        return torch.zeros(projection.inputs).double()
    return (gradients.double() * projection.weight.detach().double()).sum(0).cpu()


def _by_head(values: Tensor, block: AttentionBlock) -> Tensor:
    """Sum the values of each head, which has k of them, or g·k: (h·k,) → (h,)."""
    return values.cpu().view(block.heads, len(values) // max(block.heads, 1)).sum(1)


def _squares_of_outputs(projection: Projection) -> Tensor:
    """Return the sum of squared weights and bias for each output of a projection, (outputs,)."""
    squares = projection.weight.detach().double().square().sum(1).cpu()
    if projection.bias is not None:
        squares += projection.bias.detach().double().square().cpu()
    return squares


def _lists(scores: Mapping[str, Tensor]) -> BlockScores:
    return {name: values.tolist() for name, values in scores.items()}
