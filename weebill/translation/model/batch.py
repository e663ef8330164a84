"""Batches of sentence pairs for a network: padded, with their masks."""

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
    places (n,): flat positions of the target's n pieces, so that the host need not wait for a device to count a mask.
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
        moved = {
            name: None if value is None else value.to(device, non_blocking=True)
            for name, value in vars(self).items()
        }
        return Batch(**moved)


def make_batch(sources: list, targets: list, weights=None, links: list | None = None) -> Batch:
    """Pad lists of piece ids (EOS last) into a batch; links: for each pair, (n, 2) source and target positions."""
    source, source_mask = pad(sources)
    target, target_mask = pad(targets)
    start = torch.full((len(target), 1), START)
    weights = [1.0] * len(sources) if weights is None else weights
    weight = torch.as_tensor(weights, dtype=torch.float32)
    decoder_input = torch.cat([start, target[:, :-1]], dim=1)
    guides = () if links is None else _guides(links, target.shape[1])
    places = target_mask.flatten().nonzero().squeeze(1)
    return Batch(source, source_mask, decoder_input, target, target_mask, places, weight, *guides)


def _guides(links: list, longest: int) -> tuple[Tensor, Tensor]:
    """Return `links` and `link_shares` of a batch whose longest target has `longest` pieces."""
    pair = np.repeat(np.arange(len(links)), [len(each) for each in links])
    cells = np.concatenate(links).astype(np.int64).reshape(-1, 2)
    place = pair * longest + cells[:, 1]
    _, piece, count = np.unique(place, return_inverse=True, return_counts=True)
    places = torch.from_numpy(np.stack([pair, cells[:, 1], cells[:, 0]], axis=1))
    return places, torch.from_numpy((1 / count[piece]).astype(np.float32))


def pad(sentences: list) -> tuple[Tensor, Tensor]:
    """Pad lists of ids to ids (b, longest) with EOS; return them and the mask of real positions."""
    lengths = torch.tensor([len(ids) for ids in sentences])
    mask = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]
    ids = torch.full(mask.shape, EOS)
    ids[mask] = torch.from_numpy(np.concatenate([np.asarray(s, dtype=np.int64) for s in sentences]))
    return ids, mask
