"""Whether two engines write the same: translations compared piece by piece, and every difference weighed.

Sums in another order decide otherwise between pieces that are nearly equally probable, and from there on the
translations part.  So a difference is judged where it begins: by how much the reference, given the pieces that
both wrote, scores its own next piece above the other engine's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from goldcrest.translation.network import START, Translator
from goldcrest.translation.search import SearchOptions
from goldcrest.translation.vocabulary import EOS

TIE = 1e-4  # of scores around 10, of which float32 sums of a few hundred products are off by about 1e-5


@dataclass(frozen=True)
class Difference:
    """A sentence that two engines translate differently."""

    sentence: int  # its place, from 0
    position: int  # of the first piece that differs, from 0
    gap: float  # the reference's score of its own piece there less that of the other's, both before the softmax

    @property
    def tie(self) -> bool:
        """Whether float32 rounding explains it: the reference itself scores both pieces alike."""
        return abs(self.gap) <= TIE


def differences(
    network: Translator,
    sources: Sequence[Sequence[int]],
    found: Sequence[Sequence[int]],
    expected: Sequence[Sequence[int]],
    options: SearchOptions,
) -> list[Difference]:
    """Where greedy translations of another engine (`found`) part from a network's own (`expected`).

    All are pieces; sources end in EOS and are cropped as `options` say, translations have no end.
    Raises ValueError where their numbers differ.
    """
    return [
        _difference(network, index, _cropped(source, options), one, other)
        for index, (source, one, other) in enumerate(zip(sources, found, expected, strict=True))
        if list(one) != list(other)
    ]


def _cropped(source: Sequence[int], options: SearchOptions) -> list[int]:
    return [*source[:-1][: options.max_source_tokens], EOS]


@torch.inference_mode()
def _difference(
    network: Translator,
    index: int,
    source: list[int],
    found: Sequence[int],
    expected: Sequence[int],
) -> Difference:
    found, expected = [*found, EOS], [*expected, EOS]
    pairs = enumerate(zip(found, expected, strict=False))
    position = next(place for place, (one, other) in pairs if one != other)
    pieces = torch.tensor([source])
    mask = torch.ones_like(pieces, dtype=torch.bool)
    prefix = torch.tensor([[START, *expected[:position]]])
    hidden = network.decode(prefix, network.encode(pieces, mask), mask)
    scores = network.logits(hidden[0, -1:])[0]
    return Difference(
        index, position, float(scores[expected[position]] - scores[found[position]])
    )
