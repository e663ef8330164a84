"""Greedy search in fixed memory: the pieces of `run.greedy_batch`, without waiting for the device at each step."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from weebill.translation.search.beam import check_found
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.fixed import STEPS, FixedDecoder
from weebill.translation.search.shapes import Shape
from weebill_runtime.vocabulary import EOS, UNK


def fixed_greedy(
    decoder: FixedDecoder,
    ensemble: Ensemble,
    source: Tensor,
    mask: Tensor,
    limits: Tensor,
    allow_unknown: bool = False,
) -> list[list[int]]:
    """Return the pieces of each sentence's translation, without its end, as `greedy_batch` does, with its error."""

    def make(shape: Shape) -> Callable[[], None]:
        return _steps(decoder, ensemble, shape, allow_unknown)

    with decoder.decoding(ensemble):
        shape, steps = decoder.begin(ensemble, source, mask, limits, slots=1)
        pieces = decoder.history("pieces")
        pieces[:steps].fill_(EOS)  # for rows that are dropped
        decoder.run(ensemble, shape, steps, ("greedy", allow_unknown), make)
        part = slice(steps), slice(len(source))
        scores = decoder.history("scores", decoder.score_type)
        found, finite = (
            history.t().contiguous().cpu().numpy()  # (b, steps)
            for history in (pieces[part], scores[part].isfinite())
        )
    ended = found == EOS
    lengths = np.where(ended.any(1), ended.argmax(1), steps)
    check_found((finite | (np.arange(steps) > lengths[:, None])).all(1))
    return [row[:length].tolist() for row, length in zip(found, lengths, strict=True)]


def _steps(
    decoder: FixedDecoder, ensemble: Ensemble, shape: Shape, allow_unknown: bool
) -> Callable[[], None]:
    """Return a function that takes STEPS steps of the present batch."""
    states, position = decoder.states(shape), decoder.position
    tokens, live = decoder.tensor("tokens", shape), decoder.tensor("live", shape)
    limits, ids = decoder.tensor("limits", shape), decoder.tensor("ids", shape)
    pieces, width = decoder.history("pieces").view(-1), decoder.width
    scores = decoder.history("scores", decoder.score_type).view(-1)

    def take() -> None:
        for _ in range(STEPS):
            values, after = ensemble.scores(tokens, states)
            if not allow_unknown:
                values[:, UNK] = -torch.inf
            chosen = values.argmax(-1)  # that of a NaN, if there is one
            places = position * width + ids
            scores.index_copy_(0, places, values.gather(1, chosen[:, None])[:, 0])
            position.add_(1)
            live.logical_and_((chosen != EOS) & (position < limits))
            tokens.copy_(chosen.masked_fill_(~live, EOS))
            pieces.index_copy_(0, places, tokens.int())
            for state, new in zip(states, after, strict=True):
                for cell, other in zip(state.cells, new.cells, strict=True):
                    cell.copy_(other)
        decoder.unfinished.copy_(live.sum())

    return take
