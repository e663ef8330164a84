"""Gates: factors of the outputs of heads and neurons, for every model family.

A head's gate acts on that head's inputs of `out`, a neuron's gate on its input of `outer`.  A head with a gate of
0 contributes nothing, as if its rows of query, key and value, their biases, and its columns of `out` were all
masked.  But its gate still has a gradient, by which the head can come back.  If several factors of a product were
masked together, each gradient would contain another factor, which is 0.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection

Block = AttentionBlock | FeedForwardBlock


@contextmanager
def gated(block: Block, gates: Callable[[], Tensor]) -> Iterator[None]:
    """Multiply the output of each head or neuron of a block by its gate within the context.

    gates: function that each forward pass calls for the gates (h,) or (f,), through which gradients pass.  The
    product is computed in their type, or in the model's if that is wider.
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
    """Multiply gates (h,) or (f,) into the weights, so that the block computes the same without gates."""
    projection, size = _outlet(block)
    weight = projection.weight
    with torch.no_grad():
        weight.mul_(_spread(gates, size).to(weight))


def silent(block: Block) -> list[int]:
    """Return the heads or neurons, ascending, whose weights in `out` or `outer` are all zero."""
    projection, size = _outlet(block)
    columns = (projection.weight == 0).all(0).unflatten(0, (-1, size))  # (h, k) or (f, 1)
    return columns.all(1).nonzero().flatten().tolist()


def _outlet(block: Block) -> tuple[Projection, int]:
    """Return the projection that reads the outputs of heads or neurons, and its number of inputs for each of them."""
    if isinstance(block, AttentionBlock):
        return block.out, block.head_size
    return block.outer, 1


def _spread(gates: Tensor, size: int) -> Tensor:
    """Repeat each gate `size` times, (h,) → (h·size,), with a gradient that is equal on every device in every run."""
    return gates[:, None].expand(-1, size).flatten()
