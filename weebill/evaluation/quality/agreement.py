"""Agreement of two engines: translations compared piece by piece, and every difference tested for a tie.

Sums in another order can change the decision between pieces that are nearly equally probable, and from there on the
translations differ.  So a difference is judged at its first piece, by the reference alone: it is a tie if the
reference itself prefers the other's piece as soon as the inputs of its linear maps have rounding errors of float32.
Such an error can change an 8-bit code, so the logits of a tie can differ more with int8 than with float32.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from weebill.quantization.modules import QuantizedLinear
from weebill.translation.model.network import START, Translator
from weebill_runtime.options import SearchOptions
from weebill_runtime.vocabulary import EOS

# Relative error: a few times float32's 2^-24, because inputs of a map are sums of hundreds of products.
ROUNDING = 2.0**-22
TRIALS, DRAWS = 8, 64  # random draws of such rounding: batches, and copies of the sentence in each
SEED = 1
Pieces = Sequence[Sequence[int]]  # of each sentence


@dataclass(frozen=True)
class Difference:
    """Sentence that two engines translate differently."""

    sentence: int  # its index, from 0
    position: int  # index of the first piece that differs, from 0
    gap: float  # reference's logit of its own piece there, minus that of the other's piece
    tie: bool  # True if the reference prefers the other's piece in any trial


def differences(
    network: Translator, sources: Pieces, found: Pieces, expected: Pieces, options: SearchOptions
) -> list[Difference]:
    """Find sentences whose greedy translations by another engine (`found`) differ from a network's own (`expected`).

    All are pieces; sources end in EOS and are cropped by `options`, translations have no end.
    Raises ValueError if their numbers differ.
    """
    return [
        _difference(network, index, options.crop(source), [*one, EOS], [*other, EOS])
        for index, (source, one, other) in enumerate(zip(sources, found, expected, strict=True))
        if list(one) != list(other)
    ]


def _difference(
    network: Translator, index: int, source: list[int], found: list[int], expected: list[int]
) -> Difference:
    pairs = enumerate(zip(found, expected, strict=False))
    position = next(place for place, (one, other) in pairs if one != other)
    prefix = [START, *expected[:position]]

    @torch.inference_mode()
    def gaps(count: int) -> Tensor:
        """Return the gap (count,) between the two pieces' logits in each of `count` copies of the sentence."""
        pieces = torch.tensor([source]).expand(count, -1)
        mask = torch.ones_like(pieces, dtype=torch.bool)
        target = torch.tensor([prefix]).expand(count, -1)
        logits = network.logits(network.decode(target, network.encode(pieces, mask), mask)[:, -1])
        return logits[:, expected[position]] - logits[:, found[position]]

    gap = float(gaps(1))
    with _rounding(network):
        tie = any(bool((gaps(DRAWS) < 0).any()) for _ in range(TRIALS))
    return Difference(index, position, gap, tie)


@contextmanager
def _rounding(network: Translator) -> Iterator[None]:
    """Add random rounding errors to the inputs of all linear maps within the block."""
    draw = torch.Generator().manual_seed(SEED)

    def moved(_module: nn.Module, arguments: tuple) -> Tensor:
        x = arguments[0]
        return x * (1 + ROUNDING * torch.randn(x.shape, generator=draw))

    with ExitStack() as hooks:
        for module in network.modules():
            if isinstance(module, nn.Linear | QuantizedLinear):
                hooks.enter_context(module.register_forward_pre_hook(moved))
        yield
