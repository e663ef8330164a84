"""Penalty of the group lasso in training, and the heads and neurons that are dead after it (WMT21 §3.1).

A connection is one output of a query, key, value or inner map with its bias, or one input of an output or outer map.
With `rowcol`, each connection is a group; with `head`, all of a head's in one map are a group, but neurons' are not.
Shapes: h heads, k head size, f neurons, g groups of a map, c connections of each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from weebill.errors import InputError
from weebill.pruning.criteria import Candidates
from weebill.pruning.method import BlockScores, Grouping
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection, Prunable
from weebill.pruning.study import Companion

HEAD_DIES = 0.5  # share of dead connections at which a head is removed


@dataclass(frozen=True)
class Groups:
    """Groups of one linear map: successive outputs with their biases, or successive inputs."""

    projection: Projection
    side: Literal["outputs", "inputs"]
    connections: int = 1  # in each group

    def norms(self) -> Tensor:
        """Compute the L2 norm of each group, (g,); a group of zeros has a gradient of zeros."""
        rows, biases = self._connections()
        shape = (len(rows) // self.connections, self.connections)
        norms = torch.linalg.vector_norm(rows.unflatten(0, shape), dim=(1, 2))
        if biases is None:
            return norms
        biases = torch.linalg.vector_norm(biases.unflatten(0, shape), dim=1)
        return torch.linalg.vector_norm(torch.stack([norms, biases]), dim=0)

    @property
    def size(self) -> int:
        """Number of weights and biases in one group."""
        rows, biases = self._connections()
        return self.connections * (rows.shape[1] + (biases is not None))

    def _connections(self) -> tuple[Tensor, Tensor | None]:
        """Return views of the connections' weights, (g·c, …), and biases, (g·c,); None for inputs."""
        weight = self.projection.weight
        return (weight, self.projection.bias) if self.side == "outputs" else (weight.T, None)


def groups_of(block: AttentionBlock | FeedForwardBlock, grouping: Grouping) -> list[Groups]:
    """Return the groups of the query, key, value and out maps, or of the inner, gate (if any) and outer maps."""
    if isinstance(block, FeedForwardBlock):
        into = [Groups(map, "outputs") for map in block.inward]
        return [*into, Groups(block.outer, "inputs")]
    # A group of grouped attention has g times as many connections in query and out as in key and value.
    each, wide = (block.head_size, block.outlet_size) if grouping == "head" else (1, block.group)
    into = [Groups(block.query, "outputs", wide)]
    into += [Groups(map, "outputs", each) for map in (block.key, block.value)]
    return [*into, Groups(block.out, "inputs", wide)]


@torch.no_grad()
def group_norms(block: AttentionBlock | FeedForwardBlock, grouping: Grouping) -> Tensor:
    """Return the norms of a block's groups: (4, h·k) of heads, or (4, h) with `head`; (2 or 3, f) of neurons."""
    return torch.stack([groups.norms() for groups in groups_of(block, grouping)]).cpu()


@dataclass(frozen=True)
class Lasso:
    """Penalty λ · Σ ‖w_g‖₂ over the groups g of some blocks, added to the loss; size_scaling: ‖w_g‖₂ times √size.

    The loss is a mean over an update's words, to which λ belongs.  The published code adds its λ to each device's sum
    over words (marian-dev, src/models/costs.h of commit 1090a170; `--multi-loss-type` is `sum` by default), whatever
    `--cost-type` names: "Optimization is only performed with regard to the summed loss_" (src/layers/loss.h).

    Proximal steps, which subtract rate · λ from each norm after the optimizer's step, make exact zeros but choose
    worse.  On multi30k.base they removed 65 % of the neurons in 300 updates, and the penalty 81 %, at a higher
    validation loss (2.662 against 2.654 per word).
    """

    groups: Grouping = "rowcol"
    strength: float = 1e-4
    size_scaling: bool = False
    blocks: str = "encoder.*"

    def companion(self, model: Prunable) -> "LassoCompanion":
        return LassoCompanion(self, model)


class LassoCompanion(Companion):
    """Penalty in training.  It has no parameters and no state."""

    def __init__(self, settings: Lasso, model: Prunable):
        super().__init__()
        self._groups: list[tuple[Groups, float]] = [
            (groups, settings.strength * (groups.size**0.5 if settings.size_scaling else 1.0))
            for block in _candidates(model, settings.blocks)
            for groups in groups_of(block, settings.groups)
        ]

    def penalty(self) -> Tensor:
        """Compute λ · Σ ‖w_g‖₂, a scalar."""
        return sum(strength * groups.norms().sum() for groups, strength in self._groups)


def norms_of(model: Prunable, settings: Lasso) -> dict[str, Tensor]:
    """Return block name → the norms of its groups."""
    blocks = _candidates(model, settings.blocks)
    return {block.name: group_norms(block, settings.groups) for block in blocks}


def dead_parts(
    model: Prunable, settings: Lasso, before: Mapping[str, Tensor], threshold: float
) -> tuple[dict[str, list[int]], dict[str, list[int]], BlockScores]:
    """Return dead heads and neurons (norms up to `threshold` of the means `before`), and living shares of heads."""
    blocks = Candidates.named(model, settings.blocks, heads=True, neurons=True)
    dead = {
        name: norms <= threshold * before[name].mean(1, keepdim=True)  # (maps, groups)
        for name, norms in norms_of(model, settings).items()
    }
    living, protected = {}, blocks.protected
    for block in blocks.attention:
        each = 1 if settings.groups == "head" else block.head_size
        by_head = dead[block.name].unflatten(1, (block.heads, each))  # (maps, h, groups)
        living[block.name] = 1 - by_head.double().mean((0, 2))
    heads = {
        name: [head for head in _places(shares <= 1 - HEAD_DIES) if head not in protected[name]]
        for name, shares in living.items()
    }
    neurons = {block.name: _places(dead[block.name].any(0)) for block in blocks.feed_forward}
    return heads, neurons, {name: shares.tolist() for name, shares in living.items()}


def _candidates(model: Prunable, pattern: str) -> list[AttentionBlock | FeedForwardBlock]:
    candidates = Candidates.named(model, pattern, heads=True, neurons=True)
    blocks = [*candidates.attention, *candidates.feed_forward]
    if not blocks:
        raise InputError(f"pruning: the student has no blocks '{pattern}'; mend the pattern")
    return blocks


def _places(flags: Tensor) -> list[int]:
    return flags.nonzero().flatten().tolist()
