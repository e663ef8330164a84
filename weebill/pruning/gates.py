"""Gates: factors that multiply what heads and neurons give, whatever the model family.

A head's gate acts on that head's inputs of `out`, a neuron's on its input of `outer`.  A head behind a
gate of 0 gives what it would with its rows of query, key and value, their biases, and its columns of `out`
all masked: nothing.  But such a head still has a gradient: that of its gate, by which it can come back.
Where several factors of a product are masked together, each one's gradient holds another, which is 0.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection

Block = AttentionBlock | FeedForwardBlock


@contextmanager
def gated(block: Block, gates: Callable[[], Tensor]) -> Iterator[None]:
    """While it lasts, what each head or neuron of a block gives is multiplied by its gate.

    gates: called in each forward pass for the gates (h,) or (f,), through which gradients pass; the product
    is made in their type, or the model's where that is wider.
    """
    projection, size = _outlet(block)

    def hook(module, arguments):
        x, *others = arguments  # x: (…, h·k) or (…, f)
        factors = _spread(gates(), size).to(x.device)
        return ((x * factors).to(x.dtype), *others)

    handle = projection.module.register_forward_pre_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def write_gates(block: Block, gates: Tensor) -> None:
    """Multiply gates (h,) or (f,) into the weights, which then give without them what they gave behind them."""
    projection, size = _outlet(block)
    weight = projection.weight
    with torch.no_grad():
        weight.mul_(_spread(gates, size).to(weight))


def silent(block: Block) -> list[int]:
    """The heads or neurons, ascending, that give nothing because their weights in `out` or `outer` are all zero."""
    projection, size = _outlet(block)
    columns = (projection.weight == 0).all(0).unflatten(0, (-1, size))  # (h, k) or (f, 1)
    return columns.all(1).nonzero().flatten().tolist()


def _outlet(block: Block) -> tuple[Projection, int]:
    """The projection that takes what heads or neurons give, and how many of its inputs each gives."""
    if isinstance(block, AttentionBlock):
        return block.out, block.head_size
    return block.outer, 1


def _spread(gates: Tensor, size: int) -> Tensor:
    """(h,) → (h·size,), each gate `size` times; its gradient is the same on every device in every run."""
    return gates[:, None].expand(-1, size).flatten()
