"""Removal of heads and neurons: physically (`cut`), or gradually by gates.

Both compute the same function: without a head, only the product of its columns of `out` and the values that it
attended to is missing.  The bias of `out` stays, and is the whole output of a block without heads.  The same holds
for neurons and `outer`.  A head's gate multiplies its inputs of `out`, a neuron's gate its input of `outer`.  A gate
of 0 still has a gradient, so the head can come back; masks of several factors of a product would have none.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from weebill.errors import InputError, nearest
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection, Prunable

Removal = Mapping[str, Collection[int]]  # block name -> heads or neurons, by their present numbers
Block = AttentionBlock | FeedForwardBlock


def cut(model: Prunable, heads: Removal | None = None, neurons: Removal | None = None) -> None:
    """Remove heads and neurons in place; parameters are new.  Raises ValueError for wrong ones before any change."""
    attention = {block.name: (block, block.heads) for block in model.attention_blocks()}
    feed_forward = {block.name: (block, block.neurons) for block in model.feed_forward_blocks()}
    chosen = []
    for blocks, removal in ((attention, heads), (feed_forward, neurons)):
        for name, indices in (removal or {}).items():
            if name not in blocks:
                raise ValueError(f"the model has no block '{name}'{nearest(name, blocks)}")
            block, total = blocks[name]
            wrong = sorted(index for index in indices if not 0 <= index < total)
            if wrong:
                raise ValueError(f"{name}: nothing numbered {wrong} among {total} to remove")
            if kept := sorted(getattr(block, "protected", frozenset()).intersection(indices)):
                raise ValueError(f"{name}: alignments guide head {kept[0]}, which stays")
            if indices:
                chosen.append((block, sorted({*range(total)} - {*indices})))
    for block, kept in chosen:
        block.keep(kept)


def layer_shapes(model: Prunable) -> dict[str, dict[str, int]]:
    """Return the remaining sizes of all blocks: {"heads": {block name: h}, "neurons": {block name: f}}."""
    return {
        "heads": {block.name: block.heads for block in model.attention_blocks()},
        "neurons": {block.name: block.neurons for block in model.feed_forward_blocks()},
    }


def cut_to(model: Prunable, shapes: Mapping[str, Mapping[str, int]]) -> None:
    """Cut a model in place to shapes of `layer_shapes`; the choice of the remaining parts is arbitrary.

    Raises InputError if the shapes belong to other blocks, or are wider than this model's.
    """
    surplus = {}
    for kind, widths in layer_shapes(model).items():
        wanted = shapes.get(kind, {})
        wrong = [
            name
            for name in widths | wanted
            if wanted.get(name) not in range(widths.get(name, -1) + 1)
        ]
        if wrong:
            raise InputError(f"{kind} of {', '.join(wrong)} are not of this model, or too many")
        surplus[kind] = {name: range(wanted[name], width) for name, width in widths.items()}
    cut(model, **surplus)


@contextmanager
def gated(block: Block, gates: Callable[[], Tensor]) -> Iterator[None]:
    """Multiply the output of each head or neuron of a block by its gate, (h,) or (f,), within the context.

    gates: called by each forward pass; the product is computed in their type, or in the model's if that is wider.
    """
    projection, size = _outlet(block)

    def hook(module, arguments):
        x, *others = arguments  # x: (…, h·k) or (…, f)
        factors = _spread(gates(), size).to(x.device)
        return ((x * factors).to(x.dtype), *others)

    with projection.module.register_forward_pre_hook(hook):
        yield


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
        return block.out, block.outlet_size
    return block.outer, 1


def _spread(gates: Tensor, size: int) -> Tensor:
    """Repeat each gate `size` times, (h,) → (h·size,); its gradient is equal on every device and in every run."""
    return gates[:, None].expand(-1, size).flatten()
