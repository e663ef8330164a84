"""Groups of weights that live or die together: connections of linear maps (WMT21 §3.1).

A connection is one output of a query, key, value or inner map with its bias, or one input of an output or
outer map.  With `rowcol`, each connection is a group; with `head`, a head's connections in one map are one group,
and the groups of feed-forward blocks stay as with `rowcol`.

Shapes: h heads, k head size, f neurons, g groups of a map, c connections of each.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from weebill.pruning.method import Grouping
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection


@dataclass(frozen=True)
class Groups:
    """Groups of one linear map: successive outputs with their biases, or successive inputs."""

    projection: Projection
    side: Literal["outputs", "inputs"]
    connections: int = 1  # in each group

    def norms(self) -> Tensor:
        """Compute the L2 norm of each group, (g,); a group of zeros has a gradient of zeros."""
        norms = torch.linalg.vector_norm(self._grouped(self._weight), dim=(1, 2))
        if self._bias is None:
            return norms
        biases = torch.linalg.vector_norm(self._grouped(self._bias), dim=1)
        return torch.linalg.vector_norm(torch.stack([norms, biases]), dim=0)

    @property
    def size(self) -> int:
        """Number of weights and biases in one group."""
        return self.connections * (self._weight.shape[1] + (self._bias is not None))

    @property
    def _weight(self) -> Tensor:
        """View of the weights whose rows are the connections."""
        weight = self.projection.weight
        return weight if self.side == "outputs" else weight.T

    @property
    def _bias(self) -> Tensor | None:
        """Biases of the connections; None for inputs."""
        return self.projection.bias if self.side == "outputs" else None

    def _grouped(self, rows: Tensor) -> Tensor:
        """Return the view (g·c, …) → (g, c, …)."""
        return rows.unflatten(0, (len(rows) // self.connections, self.connections))


def groups_of(block: AttentionBlock | FeedForwardBlock, grouping: Grouping) -> list[Groups]:
    """Return the groups of the query, key, value and out maps, or of the inner, gate (if any) and outer maps."""
    if isinstance(block, FeedForwardBlock):
        into = [Groups(map, "outputs") for map in block.inward]
        return [*into, Groups(block.outer, "inputs")]
    connections = block.head_size if grouping == "head" else 1
    into = [Groups(map, "outputs", connections) for map in (block.query, block.key, block.value)]
    return [*into, Groups(block.out, "inputs", connections)]


@torch.no_grad()
def group_norms(block: AttentionBlock | FeedForwardBlock, grouping: Grouping) -> Tensor:
    """Return the norms of a block's groups, on the CPU.

    Shapes: (4, h·k) for an attention block with `rowcol`, (4, h) with `head`; (2, f) for a feed-forward block,
    (3, f) if it has a gate.
    """
    return torch.stack([groups.norms() for groups in groups_of(block, grouping)]).cpu()
