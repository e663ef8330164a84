"""Sampling of translations, piece by piece from the model's distribution: candidates for minimum Bayes risk.

Each sentence has its own random numbers, derived from the seed and its pieces, so other sentences do not matter.
"""

import math
from hashlib import sha256

import numpy as np
import torch
from torch import Tensor

from weebill.kernels.largest import largest
from weebill.translation.model.network import START
from weebill.translation.search.beam import check_found
from weebill.translation.search.ensemble import FINISHED_SHARE, Ensemble
from weebill_runtime.options import Candidate, SearchOptions
from weebill_runtime.vocabulary import EOS, UNK


def sample_batch(
    ensemble: Ensemble, source: Tensor, mask: Tensor, limits: Tensor, options: SearchOptions
) -> list[list[Candidate]]:
    """Draw `options.nbest` samples of each sentence; return them in the order drawn, with scores as in a search.

    source, mask: (b, s).  limits: (b,), the largest number of pieces, end included.
    """
    count, each, device = len(source), options.nbest, source.device
    seed, sentences = options.sampling.seed, zip(source.cpu(), mask.cpu(), strict=True)
    numbers = [_numbers(seed, pieces[real].tolist()) for pieces, real in sentences]
    rows = torch.arange(count, device=device).repeat_interleave(each)
    states = [state.select(rows) for state in ensemble.start(source, mask)]
    steps = []  # pieces (b, each) of each step; arbitrary after a sample's end
    totals, lengths = np.zeros((count, each)), np.zeros((count, each), dtype=int)
    live = np.ones((count, each), dtype=bool)
    ids = np.arange(count)  # sentence of each group of `each` rows
    tokens = torch.full((count * each,), START, device=device)
    while len(ids):
        values, states = ensemble.step(tokens, states)
        unknown = values[:, UNK].clone()
        if not options.allow_unknown:
            values[:, UNK] = -torch.inf
        drawn = np.stack([numbers[sentence].random(each) for sentence in ids]).ravel()
        tokens = _draw(values, options, torch.from_numpy(drawn).to(device))
        values[:, UNK] = unknown
        rows = torch.from_numpy(ids).to(device)
        at_limit = (limits[rows] <= len(steps) + 1).repeat_interleave(each)
        tokens = tokens.masked_fill(at_limit, EOS)
        log_p = ensemble.log_probabilities(values, tokens[:, None]).double().view(-1, each).cpu()
        totals[ids] += np.where(live[ids], log_p.numpy(), 0.0)
        steps.append(np.full((count, each), EOS))
        steps[-1][ids] = tokens.view(-1, each).cpu().numpy()
        lengths += live
        live &= steps[-1] != EOS
        going = live[ids].any(1)
        if (~going).sum() >= max(1, FINISHED_SHARE * len(ids)) or not going.any():
            kept = torch.from_numpy(np.flatnonzero(going)).to(device)
            states, ids = [state.keep(kept) for state in states], ids[going]
            tokens = tokens.view(-1, each)[kept].flatten()
    check_found([not np.isnan(totals).any()])
    pieces, norm = np.array(steps), options.length_normalisation

    def sample(sentence: int, row: int) -> Candidate:
        total, length = float(totals[sentence, row]), int(lengths[sentence, row])
        return Candidate(tuple(pieces[: length - 1, sentence, row].tolist()), total / length**norm)

    return [[sample(sentence, row) for row in range(each)] for sentence in range(count)]


def _draw(values: Tensor, options: SearchOptions, drawn: Tensor) -> Tensor:
    """Draw a piece for each row of values (rows, V) by its random number (rows,) and the cumulative distribution."""
    sampling = options.sampling
    tempered = values / sampling.temperature
    if sampling.epsilon:  # at most 1 / epsilon pieces can be as probable
        kept = math.floor(min(values.shape[1], 1 / sampling.epsilon))  # 1 / epsilon may be infinite
        best, pieces = largest(tempered, kept)
        log_p = best - tempered.logsumexp(1, keepdim=True)
        allowed = log_p >= math.log(sampling.epsilon)
        allowed[:, 0] = True
        log_p = log_p.masked_fill(~allowed, -torch.inf)
    else:
        log_p, pieces = tempered.log_softmax(1), None
    shares = log_p.double().exp().cumsum(1)
    place = torch.searchsorted(shares, (drawn * shares[:, -1])[:, None], right=True)
    place = place.clamp(max=shares.shape[1] - 1)
    return (place if pieces is None else pieces.gather(1, place)).squeeze(1)


def _numbers(seed: int, pieces: list[int]) -> np.random.Generator:
    key = sha256(np.array([seed, *pieces], dtype="<i8").tobytes()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key[:16], "little")))
