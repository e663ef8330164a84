"""Blocks with inconsistent maps are refused."""

import pytest
from torch import nn

from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection


def test_attention_projections_that_do_not_fit_are_refused():
    linear = [nn.Linear(8, 12) for _ in range(3)]
    with pytest.raises(ValueError, match="do not hold 4 heads of size 2"):
        AttentionBlock("block", *linear, nn.Linear(12, 8), heads=4, head_size=2)
    fused = nn.Linear(8, 36)
    block = AttentionBlock(
        "block", Projection(fused, 0, 3), Projection(fused, 1, 3), linear[2], nn.Linear(12, 8), 4, 3
    )
    with pytest.raises(ValueError, match="all 3 parts of a fused module"):
        block.keep([0])


def test_feed_forward_projections_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="12 outputs of the inner map do not match 10 inputs"):
        FeedForwardBlock("block", nn.Linear(8, 12), nn.Linear(10, 8))
