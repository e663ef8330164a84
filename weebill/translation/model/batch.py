"""Batches of sentence pairs for a network: padded, with their masks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from weebill.translation.model.network import START
from weebill_runtime.vocabulary import EOS


@dataclass(frozen=True)
class Batch:
    """Batch of b padded sentence pairs.

    source (b, s) and its mask; decoder_input (b, t), START first; target (b, t), EOS last; target_mask (b, t);
    places (n,): flat target positions that the loss reads: all positions, or only those of pieces, so that the host
    need not wait for a device to count a mask.  Padding adds nothing to the loss.
    weight (b,): each pair's weight in the loss.  If alignments guide the training, links (k, 3): pair, target and
    source position of each link, and link_shares (k,): 1 / the number of links of a link's target piece.
    """

    source: Tensor
    source_mask: Tensor
    decoder_input: Tensor
    target: Tensor
    target_mask: Tensor
    places: Tensor
    weight: Tensor
    links: Tensor | None = None
    link_shares: Tensor | None = None

    @property
    def words(self) -> int:
        """Number of target pieces including EOS."""
        return len(self.places)

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on another device."""
        return self._each(lambda value: value.to(device, non_blocking=True))

    def pin_memory(self) -> "Batch":
        """Return the batch in pinned memory, from which a GPU copies while the host continues."""
        return self._each(Tensor.pin_memory)

    def clone(self) -> "Batch":
        """Return a copy of the batch."""
        return self._each(Tensor.clone)

    def copy_(self, other: "Batch") -> None:
        """Overwrite the batch with another one of the same shapes."""
        for name, value in vars(self).items():
            if value is not None:
                value.copy_(getattr(other, name), non_blocking=True)

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        values = vars(self).items()
        return Batch(**{name: None if value is None else change(value) for name, value in values})


def make_batch(sources: list, targets: list, weights=None, links: list | None = None) -> Batch:
    """Pad lists of piece ids (EOS last) into a batch; links: for each pair, (n, 2) source and target positions."""
    weights = [1.0] * len(sources) if weights is None else weights
    return join(pad(sources), pad(targets), weights, links)


def join(
    source: tuple[Tensor, Tensor], target: tuple[Tensor, Tensor], weights, links: list | None
) -> Batch:
    """Make a batch of two sides, each (padded piece ids, mask of real ones); the rest is as in `make_batch`."""
    ids, mask = target
    start = torch.full((len(ids), 1), START)
    weight = torch.as_tensor(weights, dtype=torch.float32)
    decoder_input = torch.cat([start, ids[:, :-1]], dim=1)
    guides = () if links is None else _guides(links, ids.shape[1])
    places = mask.flatten().nonzero().squeeze(1)
    return Batch(*source, decoder_input, ids, mask, places, weight, *guides)


def _guides(links: list, longest: int) -> tuple[Tensor, Tensor]:
    """Return `links` and `link_shares` of a batch whose longest target has `longest` pieces."""
    pair = np.repeat(np.arange(len(links)), [len(each) for each in links])
    cells = np.concatenate(links).astype(np.int64).reshape(-1, 2)
    place = pair * longest + cells[:, 1]
    _, piece, count = np.unique(place, return_inverse=True, return_counts=True)
    places = torch.from_numpy(np.stack([pair, cells[:, 1], cells[:, 0]], axis=1))
    return places, torch.from_numpy((1 / count[piece]).astype(np.float32))


def pad(sentences: list) -> tuple[Tensor, Tensor]:
    """Pad lists of ids with EOS to (b, longest); return the ids and the mask of real positions."""
    lengths = np.array([len(ids) for ids in sentences])
    return pad_joined(np.concatenate([np.asarray(ids, np.int64) for ids in sentences]), lengths)


def pad_joined(pieces: np.ndarray, lengths: np.ndarray) -> tuple[Tensor, Tensor]:
    """Pad sentences as `pad` does, from their concatenated piece ids and their lengths (b,)."""
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, EOS, np.int64)
    ids[mask] = pieces
    return torch.from_numpy(ids), torch.from_numpy(mask)
