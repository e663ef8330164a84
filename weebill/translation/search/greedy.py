"""Greedy search: the most probable piece at each step; finished sentences leave the batch."""

import torch
from torch import Tensor

from weebill.translation.model.network import START
from weebill.translation.model.vocabulary import EOS, UNK
from weebill.translation.search.ensemble import FINISHED_SHARE, Ensemble


def greedy_batch(
    ensemble: Ensemble, source: Tensor, mask: Tensor, limits: Tensor, allow_unknown: bool = False
) -> list[list[int]]:
    """Return the pieces of each sentence's translation, without its end.

    source, mask: (b, s).  limits: (b,), the largest number of pieces, end included.  Among equally probable pieces,
    the first in the vocabulary wins.
    """
    count = source.shape[0]
    states = ensemble.start(source, mask)
    tokens = torch.full((count,), START, device=source.device)
    live = torch.ones(count, dtype=torch.bool, device=source.device)
    ids = list(range(count))  # sentence of each row
    translations: list[list[int]] = [[] for _ in ids]
    length = 0
    while True:
        length += 1
        values, states = ensemble.step(tokens, states)
        if not allow_unknown:
            values[:, UNK] = -torch.inf
        tokens = values.argmax(-1)
        live &= (tokens != EOS) & (length < limits)
        going = live.tolist()
        if not any(going):
            return translations
        for sentence, token, goes in zip(ids, tokens.tolist(), going, strict=True):
            if goes:
                translations[sentence].append(token)
        if going.count(False) >= FINISHED_SHARE * len(going):
            rows = live.nonzero().squeeze(1)
            states, tokens, limits, live = states.keep(rows), tokens[rows], limits[rows], live[rows]
            ids = [sentence for sentence, goes in zip(ids, going, strict=True) if goes]
