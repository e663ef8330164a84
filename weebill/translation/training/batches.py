"""Training batches: a stream of token-budget batches of an encoded corpus that can start anywhere.

Sentences are shuffled over the whole epoch; within a window of that order they are sorted by length and cut
into batches of bounded size, and the window's batches are shuffled again.  So batches have little padding, and
the order of lengths in training is still random (no bucketing bias).  Batch number n depends on the seed and n
alone: a resumed run, or each of several devices, reads the same stream.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from weebill.translation.model.network import START
from weebill.translation.model.vocabulary import EOS

WINDOW = 50  # batches that are sorted by length together


class Corpus(Protocol):
    """Pairs of sentences, of which batches need the lengths alone."""

    def __len__(self) -> int: ...

    def lengths(self, side: str) -> np.ndarray:
        """Pieces per sentence (pairs,) of `source` or `target`."""


@dataclass(frozen=True)
class Batch:
    """b padded sentence pairs.

    source (b, s) and its mask; decoder_input (b, t), START first; target (b, t), EOS last; target_mask (b, t);
    weight (b,): each pair's weight in the loss.
    links (k, 3), where the training is guided by alignments: pair, target and source position of each link;
    link_shares (k,): 1 / the number of links that a link's target piece has.
    """

    source: Tensor
    source_mask: Tensor
    decoder_input: Tensor
    target: Tensor
    target_mask: Tensor
    weight: Tensor
    links: Tensor | None = None
    link_shares: Tensor | None = None

    @property
    def words(self) -> int:
        """Target pieces including EOS."""
        return int(self.target_mask.sum())

    def to(self, device: torch.device) -> "Batch":
        """The batch on another device."""
        moved = {
            name: None if value is None else value.to(device, non_blocking=True)
            for name, value in vars(self).items()
        }
        return Batch(**moved)


def make_batch(sources: list, targets: list, weights=None, links: list | None = None) -> Batch:
    """Pad lists of piece ids (EOS last) into a batch.

    links: for each pair source and target position of every link (n, 2).
    """
    source, source_mask = pad(sources)
    target, target_mask = pad(targets)
    start = torch.full((len(target), 1), START)
    weight = (
        torch.ones(len(sources))
        if weights is None
        else torch.as_tensor(weights, dtype=torch.float32)
    )
    decoder_input = torch.cat([start, target[:, :-1]], dim=1)
    guides = () if links is None else _guides(links, target.shape[1])
    return Batch(source, source_mask, decoder_input, target, target_mask, weight, *guides)


def _guides(links: list, longest: int) -> tuple[Tensor, Tensor]:
    """`links` and `link_shares` of a batch whose longest target has so many pieces."""
    pair = np.repeat(np.arange(len(links)), [len(each) for each in links])
    cells = np.concatenate(links).astype(np.int64).reshape(-1, 2)
    _, piece, count = np.unique(
        pair * longest + cells[:, 1], return_inverse=True, return_counts=True
    )
    places = torch.from_numpy(np.stack([pair, cells[:, 1], cells[:, 0]], axis=1))
    return places, torch.from_numpy((1 / count[piece]).astype(np.float32))


def pad(sentences: list) -> tuple[Tensor, Tensor]:
    """Lists of ids → ids (b, longest) filled up with EOS, and the mask of real positions."""
    lengths = torch.tensor([len(ids) for ids in sentences])
    mask = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]
    ids = torch.full(mask.shape, EOS)
    ids[mask] = torch.from_numpy(np.concatenate([np.asarray(s, dtype=np.int64) for s in sentences]))
    return ids, mask


def batch_stream(
    corpus: Corpus,
    batch_tokens: int,
    seed: int,
    first: int = 0,
    chosen: np.ndarray | None = None,
) -> Iterator[np.ndarray]:
    """Endless batches as arrays of row numbers, from batch number `first` on.

    chosen: the rows of an epoch, by default every row once.

    A batch holds at most `batch_tokens` positions of source plus target, padding counted, and at least one pair.
    """
    source, target = corpus.lengths("source"), corpus.lengths("target")
    if chosen is None:
        mean = float(source.mean() + target.mean())
    else:
        mean = float(source[chosen].mean() + target[chosen].mean())
    window_rows = max(1, int(WINDOW * batch_tokens / mean))
    number, epoch = 0, 0
    while True:
        random = np.random.default_rng((seed, epoch))
        order = random.permutation(len(corpus) if chosen is None else chosen)
        for window, begin in enumerate(range(0, len(order), window_rows)):
            rows = order[begin : begin + window_rows]
            rows = rows[np.lexsort((rows, source[rows], target[rows]))]
            cuts = _cut(source[rows], target[rows], batch_tokens)
            if number + len(cuts) <= first:
                number += len(cuts)
                continue
            for index in np.random.default_rng((seed, epoch, window + 1)).permutation(len(cuts)):
                if number >= first:
                    yield rows[slice(*cuts[index])]
                number += 1
        epoch += 1


def _cut(source: np.ndarray, target: np.ndarray, budget: int) -> list[tuple[int, int]]:
    """Consecutive stretches (begin, end) whose padded size stays within the budget."""
    cuts, begin, longest_source, longest_target = [], 0, 0, 0
    for row, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        longest_source, longest_target = max(longest_source, s), max(longest_target, t)
        if row > begin and (row - begin + 1) * (longest_source + longest_target) > budget:
            cuts.append((begin, row))
            begin, longest_source, longest_target = row, s, t
    cuts.append((begin, len(source)))
    return cuts
