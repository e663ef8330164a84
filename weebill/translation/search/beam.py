"""Beam search with n-best and length normalisation.

b sentences, k slots (live hypotheses) per sentence, V pieces.  Rows of the decoder are (b·k,),
sentence by sentence; the encoder's output is kept once per sentence.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from weebill.errors import InputError
from weebill.kernels.largest import largest
from weebill.translation.model.network import START
from weebill.translation.search.ensemble import FINISHED_SHARE, Ensemble
from weebill_runtime.options import Candidate, SearchOptions
from weebill_runtime.vocabulary import EOS, UNK


def beam_batch(
    ensemble: Ensemble, source: Tensor, mask: Tensor, limits: Tensor, options: SearchOptions
) -> list[list[Candidate]]:
    """Return the `options.nbest` best translations found for each sentence, best first.

    source, mask: (b, s).  limits: (b,), the largest number of pieces, end included: the last one must be the end.
    As in Marian, a finished hypothesis leaves the beam, which is one slot narrower from then on.
    Among equally probable continuations, the one with the better parent wins, then the first in the vocabulary.
    Raises InputError if the networks' output is NaN.
    """
    beam = _Beam(ensemble, ensemble.start(source, mask), limits, options)
    while beam.step():
        pass
    check_found(beam.finished)
    for found in beam.finished:
        found.sort(key=lambda candidate: -candidate.score)
    return [found[: options.nbest] for found in beam.finished]


def check_found(found: Iterable) -> None:
    """Raise InputError if a member is empty or False, which means that nothing was found for its sentence."""
    if not all(found):
        raise InputError(
            "the model's output is not a number; if it computes in float16, take bfloat16 or float32, else its "
            "training diverged: train again"
        )


class _Beam:
    """Hypotheses of a batch.

    totals: (b, k) log p of each slot, best first, −inf in empty slots.
    pieces: (b, k, length) chosen so far; last: (b·k,) the decoder's next input.
    """

    def __init__(self, ensemble: Ensemble, states: list, limits: Tensor, options: SearchOptions):
        count, device = len(limits), limits.device
        self.ensemble, self.states, self.limits, self.options = ensemble, states, limits, options
        self.ids = list(range(count))  # sentence of each row of totals
        self.finished: list[list[Candidate]] = [[] for _ in self.ids]
        self.allowed = torch.full((count, 1), options.beam, device=device)  # slots left
        self.totals = torch.zeros(count, 1, dtype=torch.float64, device=device)
        self.last = torch.full((count,), START, device=device)
        self.pieces = torch.empty(count, 1, 0, dtype=torch.long, device=device)

    def step(self) -> bool:
        """Extend every hypothesis by a piece; return False if none is left."""
        scores, parents, tokens = self._candidates()
        rank = torch.arange(scores.shape[1], device=scores.device)
        taken = (rank < self.allowed) & (scores > -torch.inf)
        ended = taken & (tokens == EOS)
        live = taken & ~ended
        if bool(ended.any()):
            self._finish(ended, scores, parents)
            live &= self._hopeful(live, scores)[:, None]
        slots = int(live.sum(1).max())
        if not slots:
            return False
        order = (~live).byte().argsort(dim=1, stable=True)[:, :slots]  # live ones first
        live, scores = live.gather(1, order), scores.gather(1, order)
        parents, tokens = parents.gather(1, order), tokens.gather(1, order)
        self._advance(live, scores, parents, tokens)
        return True

    def _candidates(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the best continuations of each sentence, best first: (b, n) log p, parent slot, piece."""
        count, slots, length = self.pieces.shape
        values, self.states = self.ensemble.step(self.last, self.states)  # (b·k, V)
        unknown = values[:, UNK].clone()
        if not self.options.allow_unknown:
            values[:, UNK] = -torch.inf
        most = int(self.allowed.max())
        width = min(most, values.shape[1])
        best, tokens = largest(values, width)  # (b·k, width)
        values[:, UNK] = unknown
        at_limit = (self.limits <= length + 1).repeat_interleave(slots)
        if bool(at_limit.any()):  # only the end may follow
            best[at_limit], tokens[at_limit] = -torch.inf, EOS
            best[at_limit, 0] = values[at_limit, EOS]
        log_p = self.ensemble.log_probabilities(values, tokens)
        log_p = log_p.masked_fill_(best == -torch.inf, -torch.inf).double()
        scores = (self.totals[:, :, None] + log_p.view(count, slots, width)).flatten(1)
        scores, order = scores.sort(dim=1, descending=True, stable=True)
        order = order[:, :most]
        return scores[:, :most], order // width, tokens.reshape(count, -1).gather(1, order)

    def _finish(self, ended: Tensor, scores: Tensor, parents: Tensor) -> None:
        length = self.pieces.shape[2] + 1  # end included
        for row, rank in ended.nonzero().tolist():
            pieces = self.pieces[row, int(parents[row, rank])].tolist()
            score = float(scores[row, rank]) / length**self.options.length_normalisation
            self.finished[self.ids[row]].append(Candidate(tuple(pieces), score))
        self.allowed = self.allowed - ended.sum(1, keepdim=True)

    def _hopeful(self, live: Tensor, scores: Tensor) -> Tensor:
        """Return (b,), False if no live hypothesis of a sentence can still enter the n best; log p can only fall."""
        best = scores.masked_fill(~live, -torch.inf).amax(1).tolist()
        hopeful, nbest = [], self.options.nbest
        for row, total, limit in zip(self.ids, best, self.limits.tolist(), strict=True):
            found = sorted((c.score for c in self.finished[row]), reverse=True)
            reachable = total / limit**self.options.length_normalisation
            hopeful.append(len(found) < nbest or reachable > found[nbest - 1])
        return torch.tensor(hopeful, device=live.device)

    def _advance(self, live: Tensor, scores: Tensor, parents: Tensor, tokens: Tensor) -> None:
        count, slots = parents.shape
        before = self.pieces.shape[1]
        rows = (torch.arange(count, device=parents.device)[:, None] * before + parents).flatten()
        if slots != before or not torch.equal(rows, torch.arange(len(rows), device=rows.device)):
            self.states = [state.select(rows) for state in self.states]
        history = self.pieces.flatten(0, 1)[rows].view(count, slots, -1)
        self.pieces = torch.cat([history, tokens[:, :, None]], 2)
        self.totals = scores.masked_fill(~live, -torch.inf)
        going = live.any(1)
        self.allowed = self.allowed.masked_fill(~going[:, None], 0)
        kept = going.nonzero().squeeze(1)
        if count - len(kept) >= max(1, FINISHED_SHARE * count):
            self.states = [state.keep(kept) for state in self.states]
            self.pieces, self.totals = self.pieces[kept], self.totals[kept]
            self.limits, self.allowed = self.limits[kept], self.allowed[kept]
            self.ids = [self.ids[row] for row in kept.tolist()]
        self.last = self.pieces[:, :, -1].flatten()
