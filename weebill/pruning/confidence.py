"""Confidence of attention heads: the size of their largest attention weights (WNGT20 §4).

Shapes: h heads of a block.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from weebill.errors import InputError
from weebill.pruning.structure import AttentionBlock


def head_confidence(attention: Tensor, queries: Tensor | None = None) -> Tensor:
    """Return each head's largest attention weight, averaged over the real query positions.

    attention: (batch, h, queries, keys), rows sum to 1.
    queries: (batch, queries), True for a token, False for padding; None if all are tokens.
    Returns (h,) of float64, in (0, 1].  Raises ValueError if there is no token.
    Source: WNGT20 §4, after Voita et al. 2019.
    """
    total, count = _largest_weights(attention, queries)
    if not count:
        raise ValueError("no query position holds a token; confidence needs at least one")
    return total / count


class ConfidenceAccumulator:
    """Mean confidence of the heads of some blocks over any number of forward passes."""

    def __init__(self, blocks: Iterable[AttentionBlock]):
        self.blocks = list(blocks)
        self._totals = {block.name: torch.zeros(block.heads).double() for block in self.blocks}
        self._counts = dict.fromkeys(self._totals, 0)

    def add(self, name: str, attention: Tensor, queries: Tensor | None) -> None:
        """Add one forward pass of the block `name`; shapes as in `head_confidence`."""
        total, count = _largest_weights(attention, queries)
        self._totals[name] += total
        self._counts[name] += count

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Add every forward pass of the blocks within the context.

        Raises ValueError if a block's family cannot report attention weights.
        """
        for block in self.blocks:
            if block.set_recorder is None:
                raise ValueError(f"{block.name}: its family gives no attention weights to record")
        try:
            for block in self.blocks:
                block.set_recorder(
                    lambda weights, queries, name=block.name: self.add(name, weights, queries)
                )
            yield
        finally:
            for block in self.blocks:
                block.set_recorder(None)

    def result(self) -> dict[str, list[float]]:
        """Return block name → confidence of each head; an empty list for a block without heads.

        Raises ValueError if a block with heads was never used, InputError if its weights are not finite numbers.
        """
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


def _largest_weights(attention: Tensor, queries: Tensor | None) -> tuple[Tensor, int]:
    """Return the sum of each head's largest weights over real query positions, (h,), and the number of positions."""
    largest = attention.detach().amax(-1).double()  # (batch, h, queries)
    if queries is None:
        return largest.sum((0, 2)).cpu(), largest.shape[0] * largest.shape[2]
    # `where` and not a product: a padded row may attend to nothing and hold NaN.
    largest = largest.where(queries[:, None, :], 0.0)
    return largest.sum((0, 2)).cpu(), int(queries.sum())
