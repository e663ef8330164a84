"""State of the decoder between the steps of a search.

Shapes: b sentences with `beam` rows each, h heads, s source positions, k head size, d embedding width.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

ROOM = 32  # initial capacity of a past, in entries


@dataclass
class State:
    """State of the decoder after `position` steps.  A step writes into its pasts: use each state for one step only.

    mask: (b, 1, 1, s), True for a source piece, False for padding.
    memory: for each distinct decoder layer the projected encoder output, (keys, values) of (b, h, s, k), or None.
    cells: for each layer of an SSRU decoder its cells (b·beam, d).
    pasts: for each layer of a self-attention decoder (keys, values) of (b, h, room, k); None before the first step,
    or without heads.  Each step appends an entry for each row, and no entry is ever moved.
    ancestors: (b, beam, entries), True if an entry belongs to the row's own history.
    checked: number of entries at which the next search for entries without descendants takes place.
    """

    position: int
    mask: Tensor
    memory: list
    cells: list[Tensor]
    pasts: list[tuple[Tensor, Tensor] | None]
    ancestors: Tensor
    checked: int = 2 * ROOM

    def place(self) -> int | Tensor:
        """Return the `position` argument of `Translator.embed` for the next piece."""
        return self.position

    def select(self, rows: Tensor) -> "State":
        """Return the state with reordered rows: new row i continues old row rows[i] of the same sentence."""
        ancestors = self.ancestors.flatten(0, 1)[rows].unflatten(0, (len(self.mask), -1))
        cells = [layer.index_select(0, rows) for layer in self.cells]
        return replace(self, cells=cells, ancestors=ancestors)

    def keep(self, sentences: Tensor) -> "State":
        """Return the state of some sentences only, given by their indices (kept,)."""
        beam = torch.arange(self.ancestors.shape[1], device=sentences.device)
        rows = (sentences[:, None] * len(beam) + beam).flatten()
        return replace(
            self,
            mask=self.mask[sentences],
            memory=[_of_sentences(layer, sentences) for layer in self.memory],
            cells=[layer.index_select(0, rows) for layer in self.cells],
            pasts=[_of_sentences(layer, sentences) for layer in self.pasts],
            ancestors=self.ancestors[sentences],
        )

    def extended(self) -> "State":
        """Return the state with ancestors for the next step's entries: each row sees its own new entry."""
        state = self._without_childless() if self.ancestors.shape[2] >= self.checked else self
        count, beam, _ = state.ancestors.shape
        own = torch.eye(beam, dtype=torch.bool, device=self.mask.device).expand(count, -1, -1)
        return replace(state, ancestors=torch.cat([state.ancestors, own], 2))

    def visible(self) -> Tensor | None:
        """Return the mask of entries that each row attends to, (b, 1, beam, entries); None for all entries."""
        # If there are as many entries as steps, there was never more than one row per sentence.
        one_path = self.ancestors.shape[2] == self.position + 1
        return None if one_path else self.ancestors[:, None]

    def _without_childless(self) -> "State":
        """Drop most of the entries that belong to no row's history, if there are many."""
        entries = self.ancestors.shape[2]
        used = self.ancestors.any(1)  # (b, entries)
        most = int(used.sum(1).max())
        if 4 * most > 3 * entries:
            return replace(self, checked=2 * entries)
        kept = used.byte().argsort(dim=1, descending=True, stable=True)[:, :most]  # (b, most)
        places = kept[:, None].expand(-1, self.ancestors.shape[1], -1)
        return replace(
            self,
            pasts=[past and tuple(_entries(part, kept) for part in past) for past in self.pasts],
            ancestors=self.ancestors.gather(2, places),
            checked=max(2 * ROOM, 2 * most),
        )


class FixedPast(tuple):
    """Keys and values (b, h, entries, k) at fixed addresses; a step writes the entries `places` (beam,)."""

    places: Tensor


@dataclass
class FixedState(State):
    """State at fixed addresses, for steps that a CUDA graph repeats; no tensor grows.

    position: (1,), a tensor that the search increments.  encodings: (positions, d), of all positions.
    pasts: `FixedPast` or None.  ancestors: (b, beam, entries), with room for future entries, which no row sees yet.
    own: (1, beam, beam), the identity: a row's own entry among those of a step.
    """

    position: Tensor
    encodings: Tensor = None
    own: Tensor = None

    def place(self) -> Tensor:
        """Return the encoding (1, d) of the present position."""
        return self.encodings.index_select(0, self.position)

    def extended(self) -> "FixedState":
        """Let rows see the entries that the next step writes for them; this changes `ancestors` in place."""
        count, beam, _ = self.ancestors.shape
        places = self.position * beam + torch.arange(beam, device=self.position.device)
        self.ancestors.index_copy_(2, places, self.own.expand(count, -1, -1))
        for past in self.pasts:
            if past is not None:
                past.places = places
        return self

    def visible(self) -> Tensor:
        """Return the mask of entries that each row attends to, (b, 1, beam, entries)."""
        return self.ancestors[:, None]


def appended(past: Sequence[Tensor] | None, new: Sequence[Tensor], entries: int) -> tuple:
    """Append `new` (b, h, beam, k) to the first `entries` of keys and values (b, h, room, k)."""
    if isinstance(past, FixedPast):
        for old, part in zip(past, new, strict=True):
            old.index_copy_(2, past.places, part)
        return past
    if past is None:
        past = [part.new_empty(*part.shape[:2], 0, part.shape[3]) for part in new]
    return tuple(_written(old, part, entries) for old, part in zip(past, new, strict=True))


def _written(old: Tensor, new: Tensor, entries: int) -> Tensor:
    end = entries + new.shape[2]
    if end > old.shape[2]:
        wider = new.new_empty(*new.shape[:2], max(ROOM, 2 * end), new.shape[3])
        wider[:, :, :entries] = old[:, :, :entries]
        old = wider
    old[:, :, entries:end] = new
    return old


def _entries(part: Tensor, kept: Tensor) -> Tensor:
    """Select entries kept (b, n) of each sentence from (b, h, room, k); copies whole rows, at memory speed."""
    count, heads, room, _ = part.shape
    before = torch.arange(count * heads, device=part.device).view(count, heads, 1) * room
    rows = (before + kept[:, None]).flatten()
    return part.flatten(0, 2).index_select(0, rows).unflatten(0, (count, heads, -1))


def _of_sentences(layer, sentences: Tensor):
    return None if layer is None else tuple(part.index_select(0, sentences) for part in layer)
