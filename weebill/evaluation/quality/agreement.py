"""Whether two engines write the same: translations compared piece by piece, and every difference tried for a tie.

Sums in another order decide otherwise between pieces that are nearly equally probable, and from there on the
translations part.  So a difference is judged where it begins, by the reference alone: it is a tie where the
reference itself prefers the other's piece as soon as the inputs of its linear maps are off by the rounding of
float32.  Such a speck can turn an 8-bit code, a step of 1/127 of the largest value, and so the logits of a tie
lie further apart with int8 than with float32.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from weebill.quantization.modules import QuantizedLinear
from weebill.translation.model.network import START, Translator
from weebill.translation.model.vocabulary import EOS
from weebill.translation.search import SearchOptions

# Relative: float32's 2^-24, a few times over, as what feeds a map is a sum of hundreds of products.
ROUNDING = 2.0**-22
# How often such rounding is drawn: batches, and copies of the sentence in each.
TRIALS, DRAWS = 8, 64
SEED = 1


@dataclass(frozen=True)
class Difference:
    """A sentence that two engines translate differently."""

    sentence: int  # its place, from 0
    position: int  # of the first piece that differs, from 0
    gap: float  # the reference's logit of its own piece there less that of the other's
    tie: bool  # whether the reference prefers the other's piece in a trial


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
        _difference(network, index, options.crop(source), one, other)
        for index, (source, one, other) in enumerate(zip(sources, found, expected, strict=True))
        if list(one) != list(other)
    ]


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
    prefix = [START, *expected[:position]]
    pieces = [expected[position], found[position]]

    def gaps(count: int) -> Tensor:
        own, other = _logits(network, source, prefix, count)[:, pieces].unbind(1)
        return own - other  # (count,)

    gap = float(gaps(1))
    with _rounding(network):
        tie = any(bool((gaps(DRAWS) < 0).any()) for _ in range(TRIALS))
    return Difference(index, position, gap, tie)


@torch.inference_mode()
def _logits(network: Translator, source: list[int], prefix: list[int], count: int) -> Tensor:
    """Of the next piece after a prefix, for `count` copies of a sentence: (count, V)."""
    pieces = torch.tensor([source]).expand(count, -1)
    mask = torch.ones_like(pieces, dtype=torch.bool)
    target = torch.tensor([prefix]).expand(count, -1)
    hidden = network.decode(target, network.encode(pieces, mask), mask)
    return network.logits(hidden[:, -1])


@contextmanager
def _rounding(network: Translator) -> Iterator[None]:
    """While the block lasts, every linear map's input is off by random rounding errors."""
    draw = torch.Generator().manual_seed(SEED)

    def moved(_module: nn.Module, arguments: tuple) -> Tensor:
        x = arguments[0]
        return x * (1 + ROUNDING * torch.randn(x.shape, generator=draw))

    linears = [m for m in network.modules() if isinstance(m, nn.Linear | QuantizedLinear)]
    hooks = [module.register_forward_pre_hook(moved) for module in linears]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
