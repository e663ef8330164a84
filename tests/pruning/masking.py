"""Masked models, with zero outputs of heads and neurons, for comparison with cut models."""

from contextlib import ExitStack, contextmanager

import torch

from weebill.pruning.cut import gated


@contextmanager
def masked(model, heads=None, neurons=None):
    """Set outputs of the given heads and neurons to zero within the context; parameters do not change."""
    blocks = {block.name: (block, block.heads) for block in model.attention_blocks()}
    blocks |= {block.name: (block, block.neurons) for block in model.feed_forward_blocks()}
    with ExitStack() as stack:
        for name, removed in {**(heads or {}), **(neurons or {})}.items():
            block, width = blocks[name]
            gates = torch.ones(width)
            gates[sorted(removed)] = 0.0
            stack.enter_context(gated(block, lambda gates=gates: gates))
        yield
