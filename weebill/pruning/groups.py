"""Groups of weights that stand or fall together: connections of linear maps (WMT21 §3.1).

A connection is one output of a query, key, value or inner map with its bias, or one input of an output or
outer map.  `rowcol` makes each a group of its own; `head` takes together those that a head has in one
map, and leaves the feed-forward as it is.

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
    """The groups of one linear map: of successive outputs with their biases, or of successive inputs."""

    projection: Projection
    side: Literal["outputs", "inputs"]
    connections: int = 1  # in each group

    def norms(self) -> Tensor:
        """The L2 norm of each group, (g,); where a group is zero, so is its gradient."""
        norms = torch.linalg.vector_norm(self._grouped(self._weight), dim=(1, 2))
        if self._bias is None:
            return norms
        biases = torch.linalg.vector_norm(self._grouped(self._bias), dim=1)
        return torch.linalg.vector_norm(torch.stack([norms, biases]), dim=0)

    @property
    def size(self) -> int:
        """How many weights and biases one group has."""
        return self.connections * (self._weight.shape[1] + (self._bias is not None))

    @property
    def _weight(self) -> Tensor:
        """A view of the weights whose rows are the connections."""
        weight = self.projection.weight
        return weight if self.side == "outputs" else weight.T

    @property
    def _bias(self) -> Tensor | None:
        """The biases of the connections; inputs have none."""
        return self.projection.bias if self.side == "outputs" else None

    def _grouped(self, rows: Tensor) -> Tensor:
        """(g·c, …) → (g, c, …), a view."""
        return rows.unflatten(0, (len(rows) // self.connections, self.connections))


def groups_of(block: AttentionBlock | FeedForwardBlock, grouping: Grouping) -> list[Groups]:
    """The groups of query, key, value and out map, or of inner map, perhaps gate, and outer map."""
    if isinstance(block, FeedForwardBlock):
        into = [Groups(map, "outputs") for map in block.inward]
        return [*into, Groups(block.outer, "inputs")]
    connections = block.head_size if grouping == "head" else 1
    into = [Groups(map, "outputs", connections) for map in (block.query, block.key, block.value)]
    return [*into, Groups(block.out, "inputs", connections)]


@torch.no_grad()
def group_norms(block: AttentionBlock | FeedForwardBlock, grouping: Grouping) -> Tensor:
    """(4, h·k) of an attention's `rowcol`, (4, h) of its `head`, (2, f), with a gate (3, f), of a feed-forward block.

    On the CPU.
    """
    return torch.stack([groups.norms() for groups in groups_of(block, grouping)]).cpu()
