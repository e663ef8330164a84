"""Sentence vectors, accumulated from the states of pieces as the encoder yields them; few states are kept.

COMET mixes the states of all layers, m = Σ w_l · n(h_l), where n is the identity or a normalisation over the whole
sentence, and pools the pieces of m.  The mean and the first piece are linear: they are computed for each layer
separately, and the normalisation is applied to the resulting vector.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from weebill.metric.encoding import Lengths

EPSILON = 1e-12  # added to a variance


def pool_states(
    states: Iterable[Tensor],
    weights: Tensor,
    pieces: Tensor,
    lengths: Lengths,
    *,
    pool: str,
    layer_norm: bool,
    pad: int | None,
) -> Tensor:
    """Return the vectors (sentences, d) of a batch.

    states: (n, d) in float32, the embeddings' and each layer's, with weights (states,).  pieces: (n,).  pool: avg,
    cls or max.  pad: the padding piece, which a text may contain; it counts in a sentence's length, but not in its
    sum.
    """
    hidden = None if pad is None else pieces == pad
    if pool == "cls" or hidden is None or not hidden.any():
        hidden = None
    if pool == "max":
        mixed = sum(
            weight * (_normalised(state, lengths) if layer_norm else state)
            for weight, state in zip(weights.tolist(), states, strict=True)
        )
        if hidden is not None:
            mixed = mixed.masked_fill(hidden[:, None], -torch.inf)
        return torch.cat([one.amax(1) for one in lengths.split(mixed)])
    counted = torch.ones_like(pieces, dtype=torch.float32)
    if hidden is not None:
        counted = counted.masked_fill(hidden, 0)
    shares = torch.cat([one.mean(1) for one in lengths.split(counted)])[:, None]
    vectors: Tensor | int = 0
    for weight, state in zip(weights.tolist(), states, strict=True):
        if pool == "cls":
            vector = torch.cat([one[:, 0] for one in lengths.split(state)])
        else:
            kept = state if hidden is None else state.masked_fill(hidden[:, None], 0)
            vector = torch.cat([one.mean(1) for one in lengths.split(kept)])
        if layer_norm:
            deviation, mean = _spread(state, lengths)
            vector = (vector - (shares if pool == "avg" else 1) * mean) / deviation
        vectors = vectors + weight * vector
    return vectors


def _spread(state: Tensor, lengths: Lengths) -> tuple[Tensor, Tensor]:
    """Return standard deviation and mean of all numbers of a sentence's state, each (sentences, 1)."""
    found = [
        torch.var_mean(one, (1, 2), correction=0, keepdim=True) for one in lengths.split(state)
    ]
    variance, mean = (torch.cat(one).squeeze(2) for one in zip(*found, strict=True))
    return (variance + EPSILON).sqrt(), mean


def _normalised(state: Tensor, lengths: Lengths) -> Tensor:
    """Normalise a state (n, d) to mean 0 and deviation 1 over the numbers of each sentence."""
    deviation, mean = _spread(state, lengths)
    repeats = torch.tensor([length for count, length in lengths.groups for _ in range(count)])
    repeats = repeats.to(state.device)
    return (state - mean.repeat_interleave(repeats, 0)) / deviation.repeat_interleave(repeats, 0)
