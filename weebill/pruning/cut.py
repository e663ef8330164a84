"""Removal of heads and neurons: physically (`cut`), or by setting their outputs to zero (`masked`).

Both give the same function.  A head adds to its block's output its columns of `out` times the values that it
attended to; its removal removes only this term.  The bias of `out` stays, and is the whole output of a block
without heads.  The same holds for neurons and `outer`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import torch

from weebill.errors import nearest
from weebill.pruning.gates import gated
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Prunable

Removal = Mapping[str, Collection[int]]  # block name -> heads or neurons, by their present numbers


def cut(model: Prunable, heads: Removal | None = None, neurons: Removal | None = None) -> None:
    """Remove heads and neurons from the model in place; the blocks record their new shapes.

    Cut parameters are new objects, so make the optimizer afterwards.  Raises ValueError, and changes nothing,
    if a block, head or neuron does not exist.
    """
    attention = _chosen(model.attention_blocks(), heads, lambda block: block.heads)
    feed_forward = _chosen(model.feed_forward_blocks(), neurons, lambda block: block.neurons)
    for block, total, removed in attention + feed_forward:
        block.keep([index for index in range(total) if index not in removed])


@contextmanager
def masked(
    model: Prunable, heads: Removal | None = None, neurons: Removal | None = None
) -> Iterator[None]:
    """Set the outputs of the heads and neurons to zero within the context; parameters do not change.

    Raises ValueError if a block, head or neuron does not exist.
    """
    attention = _chosen(model.attention_blocks(), heads, lambda block: block.heads)
    feed_forward = _chosen(model.feed_forward_blocks(), neurons, lambda block: block.neurons)
    with ExitStack() as stack:
        for block, total, removed in attention + feed_forward:
            gates = torch.ones(total)
            gates[sorted(removed)] = 0.0
            stack.enter_context(gated(block, lambda gates=gates: gates))
        yield


def _chosen(
    blocks: Sequence[AttentionBlock] | Sequence[FeedForwardBlock], removal: Removal | None, width
) -> list[tuple]:
    """List (block, its width, indices to remove) for the blocks of a removal; raise ValueError for unknown parts."""
    named = {block.name: block for block in blocks}
    chosen = []
    for name, indices in (removal or {}).items():
        if name not in named:
            raise ValueError(f"the model has no block '{name}'{nearest(name, named)}")
        block, removed = named[name], set(indices)
        total = width(block)
        wrong = sorted(index for index in removed if not 0 <= index < total)
        if wrong:
            raise ValueError(f"{name}: nothing numbered {wrong} among {total} to remove")
        if removed:
            chosen.append((block, total, removed))
    return chosen
