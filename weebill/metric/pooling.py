"""Vectors of sentences from the states of an encoder; few states are kept at a time.

COMET mixes the states of all layers, m = Σ w_l · n(h_l), where n is the identity or a normalisation over the whole
sentence, and pools the pieces of m.  The mean and the first piece are linear: sums are accumulated layer by layer,
and the normalisation is applied to the resulting vector.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from weebill.kernels.cuda import to_device
from weebill.metric.architecture import Architecture
from weebill.metric.lengths import Lengths


class Pool:
    """Sum over the states of a batch, which are added one after the other, the embeddings' first."""

    def __init__(
        self, pieces: Tensor, lengths: Lengths, architecture: Architecture, pad: int | None
    ) -> None:
        """Prepare a sum for pieces (n,), on the CPU; lengths: as `Lengths.on` returns them for the states' device.

        pad: the padding piece, which a text may contain; it counts in a sentence's length, but not in its sum.
        """
        self._lengths, self._pool = lengths, architecture.pool
        self._first = self._pool in ("cls", "default")
        self._norm = (
            architecture.layer_norm and architecture.layer == "mix" and self._pool != "default"
        )
        hidden = None if pad is None or self._first else (pieces == pad)[:, None]
        shown = hidden is None or not hidden.any()
        self._hidden = None if shown else to_device(hidden, lengths.device)
        self._shares: Tensor | int = 1  # share of each sentence's pieces that count
        if self._hidden is not None and self._pool == "avg":
            self._shares = lengths.means((~self._hidden).float())
        self._sum: Tensor | int = 0  # (sentences, d), or (n, d) for the maximum

    def add(self, state: Tensor, weight: float) -> None:
        """Add a state (n, d) in float32 with its weight in the mix."""
        if self._pool == "max":
            mixed = _normalised(state, self._lengths) if self._norm else state
            self._sum = self._sum + weight * mixed
            return
        shown = state if self._hidden is None else state.masked_fill(self._hidden, 0)
        vector = self._lengths.first(shown) if self._first else self._lengths.means(shown)
        if self._norm:
            deviation, mean = self._lengths.spread(state)
            vector = (vector - self._shares * mean) / deviation
        self._sum = self._sum + weight * vector

    def vectors(self) -> Tensor:
        """Return the vectors (sentences, d) of the batch."""
        if self._pool != "max":
            return self._sum
        mixed = self._sum
        if self._hidden is not None:
            mixed = mixed.masked_fill(self._hidden, -torch.inf)
        return self._lengths.largest(mixed)


def pool_states(
    states: Iterable[Tensor],
    weights: Tensor,
    pieces: Tensor,
    lengths: Lengths,
    architecture: Architecture,
    pad: int | None,
) -> Tensor:
    """Return the vectors (sentences, d) of a batch; states: (n, d) each; weights: (states,); others as in `Pool`."""
    pool = Pool(pieces, lengths, architecture, pad)
    for weight, state in zip(weights.tolist(), states, strict=True):
        pool.add(state, weight)
    return pool.vectors()


def _normalised(state: Tensor, lengths: Lengths) -> Tensor:
    """Normalise a state (n, d) to mean 0 and deviation 1 over the numbers of each sentence."""
    deviation, mean = (lengths.repeat(one) for one in lengths.spread(state))
    return (state - mean) / deviation
