"""Beam search in fixed memory: the results of `beam.beam_batch`, without waiting for the device at each step.

b rows (sentences), k slots (live hypotheses) per row, V pieces.  Histories hold the piece and the parent of each
slot after each step; a finished hypothesis is stored as its number of pieces and its last slot.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from weebill.kernels.largest import largest_at_once
from weebill.translation.search.beam import check_found
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.fixed import STEPS, FixedDecoder
from weebill.translation.search.shapes import Shape
from weebill_runtime.options import Candidate, SearchOptions
from weebill_runtime.vocabulary import EOS, UNK


def fixed_beam(
    decoder: FixedDecoder,
    ensemble: Ensemble,
    source: Tensor,
    mask: Tensor,
    limits: Tensor,
    options: SearchOptions,
) -> list[list[Candidate]]:
    """Return the `options.nbest` best translations found for each sentence, as `beam_batch` does."""

    def make(shape: Shape) -> Callable[[], None]:
        return _Beam(decoder, shape, options).steps(ensemble)

    with decoder.decoding(ensemble):
        shape, steps = decoder.begin(ensemble, source, mask, limits, options.beam)
        beam = _Beam(decoder, shape, options)
        beam.start(limits)
        kind = ("beam", options.nbest, options.allow_unknown)
        decoder.run(ensemble, shape, steps, kind, make)
        return beam.results(len(source), steps)


class _Beam:
    """Tensors of a search in a decoder's memory, and the function that takes its steps.

    totals: (b, k) log p of each slot, best first, −inf in empty ones.  allowed: (b,) slots left.
    ended: (b,) number of finished hypotheses.  reach: (b,) limit^normalisation.
    norms: length^normalisation by length.
    scores, lengths, slots: (sentences, k + 1) of finished hypotheses; the last column takes the writes of all others.
    """

    def __init__(self, decoder: FixedDecoder, shape: Shape, options: SearchOptions):
        self.decoder, self.shape, self.options = decoder, shape, options
        rows, slots = shape.rows, shape.slots
        self.totals = decoder.rows.get("totals", (rows, slots), torch.float64)
        self.allowed = decoder.rows.get("allowed", (rows,), torch.long)
        self.ended = decoder.rows.get("ended", (rows,), torch.long)
        self.reach = decoder.rows.get("reach", (rows,), torch.float64)
        self.norms = decoder.fixed.get("norms", (decoder.steps + 1,), torch.float64)
        finished = decoder.width // slots, slots + 1
        self.scores = decoder.fixed.get("scores", finished, torch.float64)
        self.lengths = decoder.fixed.get("lengths", finished, torch.long)
        self.slots = decoder.fixed.get("slots", finished, torch.long)
        self.pieces, self.parents = decoder.history("pieces"), decoder.history("parents")

    def start(self, limits: Tensor) -> None:
        """Set all tensors for the first step: one slot is in use."""
        power = self.options.length_normalisation
        self.totals.fill_(-torch.inf)[:, 0] = 0.0
        self.allowed.fill_(self.shape.slots)
        self.ended.zero_()
        reach = torch.tensor([limit**power for limit in limits.tolist()], dtype=torch.float64)
        self.reach.fill_(1.0)[: len(limits)].copy_(reach)
        norms = [length**power for length in range(len(self.norms))]
        self.norms.copy_(torch.tensor(norms, dtype=torch.float64))
        self.scores.fill_(-torch.inf)

    def steps(self, ensemble: Ensemble) -> Callable[[], None]:
        """Return a function that takes STEPS steps of the present batch."""
        decoder, shape = self.decoder, self.shape
        states, position = decoder.states(shape), decoder.position
        tokens, live = decoder.tensor("tokens", shape), decoder.tensor("live", shape)
        limits, ids = decoder.tensor("limits", shape), decoder.tensor("ids", shape)
        slot, row = decoder.numbers(shape.slots), decoder.numbers(shape.rows)[:, None]

        def take() -> None:
            for _ in range(STEPS):
                values, after = ensemble.step(tokens, states)
                scores, parents, chosen = self._candidates(ensemble, values, position < limits - 1)
                position.add_(1)
                taken = (slot < self.allowed[:, None]) & (scores > -torch.inf)
                ended = taken & (chosen == EOS)
                going = taken & ~ended & self._finish(ended, taken & ~ended, scores, parents, ids)
                order = (~going).byte().argsort(dim=1, stable=True)  # live ones first
                going, scores = going.gather(1, order), scores.gather(1, order)
                parents, chosen = parents.gather(1, order), chosen.gather(1, order)
                self.totals.copy_(scores.masked_fill(~going, -torch.inf))
                live.copy_(going.any(1))
                self.allowed.masked_fill_(~live, 0)
                tokens.copy_(chosen.flatten())
                places = (position - 1) * decoder.width + (
                    ids[:, None] * shape.slots + slot
                ).flatten()
                self.pieces.view(-1).index_copy_(0, places, tokens.int())
                self.parents.view(-1).index_copy_(0, places, parents.flatten().int())
                _select(states, after, (row * shape.slots + parents).flatten())
            decoder.unfinished.copy_(live.sum())

        return take

    def _candidates(
        self, ensemble: Ensemble, values: Tensor, free: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the k best continuations of each row, best first: (b, k) log p, parent slot, piece.

        values: (b·k, V), from `Ensemble.step`.  free: (b,), False if only the end may follow.
        """
        rows, slots = self.totals.shape
        unknown = values[:, UNK].clone()
        if not self.options.allow_unknown:
            values[:, UNK] = -torch.inf
        width = min(slots, values.shape[1])
        best, pieces = largest_at_once(values, width)  # (b·k, width)
        values[:, UNK] = unknown
        free = free[:, None].expand(rows, slots).reshape(-1, 1)
        only_end = torch.full_like(best, -torch.inf)
        only_end[:, 0] = values[:, EOS]
        best = torch.where(free, best, only_end)
        pieces = pieces.masked_fill(~free, EOS)
        log_p = ensemble.log_probabilities(values, pieces)
        log_p = log_p.masked_fill(best == -torch.inf, -torch.inf).double()
        scores = (self.totals[:, :, None] + log_p.view(rows, slots, width)).flatten(1)
        scores, order = scores.sort(dim=1, descending=True, stable=True)
        order = order[:, :slots]
        return scores[:, :slots], order // width, pieces.view(rows, -1).gather(1, order)

    def _finish(
        self, ended: Tensor, going: Tensor, scores: Tensor, parents: Tensor, ids: Tensor
    ) -> Tensor:
        """Record the hypotheses that ended (b, k); return (b, 1), False if no live one can enter the n best."""
        slots, position = self.shape.slots, self.decoder.position
        columns = (self.ended[:, None] + ended.cumsum(1) - 1).masked_fill(~ended, slots)
        known = self.scores.index_select(0, ids)
        known.scatter_(1, columns, scores / self.norms.index_select(0, position))
        known[:, slots] = -torch.inf
        self.scores.index_copy_(0, ids, known)
        lengths = (position - 1).expand_as(columns)  # without the end
        for record, new in ((self.lengths, lengths), (self.slots, parents)):
            record.index_copy_(0, ids, record.index_select(0, ids).scatter_(1, columns, new))
        count = ended.sum(1)
        self.ended.add_(count)
        self.allowed.sub_(count)
        # log p can only fall
        nth = known.topk(self.options.nbest, dim=1).values[:, -1]
        reachable = scores.masked_fill(~going, -torch.inf).amax(1) / self.reach
        return ((self.ended < self.options.nbest) | (reachable > nth))[:, None]

    def results(self, count: int, steps: int) -> list[list[Candidate]]:
        """Return the n best of the first `count` sentences after at most `steps` steps."""
        slots, nbest = self.shape.slots, self.options.nbest
        scores, lengths, places = (
            tensor[:count].cpu().numpy() for tensor in (self.scores, self.lengths, self.slots)
        )
        pieces, parents = (
            history[:steps, : count * slots].cpu().numpy().reshape(steps, count, slots)
            for history in (self.pieces, self.parents)
        )
        order = np.argsort(-scores, axis=1, kind="stable")[:, :nbest]
        scores, lengths, places = (
            np.take_along_axis(array, order, 1) for array in (scores, lengths, places)
        )
        check_found(scores[:, 0] > -np.inf)
        texts = np.full((count, nbest, steps), EOS, dtype=np.int32)
        lengths, places = (np.where(scores > -np.inf, one, 0) for one in (lengths, places))
        for step in reversed(range(int(lengths.max(initial=0)))):
            inside = step < lengths
            texts[:, :, step] = np.take_along_axis(pieces[step], places, 1)
            places = np.where(inside, np.take_along_axis(parents[step], places, 1), places)
        return [
            [
                Candidate(tuple(text[:length].tolist()), float(score))
                for text, length, score in zip(*sentence, strict=True)
                if score > -np.inf
            ]
            for sentence in zip(texts, lengths, scores, strict=True)
        ]


def _select(states: list, after: list, rows: Tensor) -> None:
    """Set row i of the states to row rows[i] of the states after a step."""
    for state, new in zip(states, after, strict=True):
        for cell, other in zip(state.cells, new.cells, strict=True):
            cell.copy_(other.index_select(0, rows))
    ancestors = states[0].ancestors  # all states share them
    if ancestors.shape[2]:
        moved = ancestors.flatten(0, 1).index_select(0, rows)
        ancestors.copy_(moved.view_as(ancestors))
