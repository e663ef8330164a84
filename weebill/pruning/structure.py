"""Prunable structure of a model of any family: attention heads, feed-forward neurons and layers.

A family lists its blocks (`Prunable`).  A block refers to the family's own modules, and reports its new shape to the
family after a cut.  Shapes: d model width, h heads, k head size, f feed-forward width.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor, nn

# Takes attention weights (batch, h, queries, keys) and the mask of real queries (batch, queries),
# or None if all are real.
Recorder = Callable[[Tensor, Tensor | None], None]


@dataclass(frozen=True)
class Projection:
    """Linear map of a module: the whole module, or one of several equal parts of its outputs.

    part, parts: GPT-2 has query, key and value in one module; they are parts 0, 1 and 2 of 3.
    output_axis: the axis of `module.weight` that counts outputs: 0 in nn.Linear, 1 in Conv1D.
    """

    module: nn.Module
    part: int = 0
    parts: int = 1
    output_axis: int = 0

    @property
    def outputs(self) -> int:
        """Width of this part's output."""
        return self.module.weight.shape[self.output_axis] // self.parts

    @property
    def inputs(self) -> int:
        """Width of the input."""
        return self.module.weight.shape[1 - self.output_axis]

    @property
    def weight(self) -> Tensor:
        """View (outputs, inputs) of this part's weights; writes and gradients reach the parameter."""
        return self._view(self.module.weight)

    @property
    def gradient(self) -> Tensor | None:
        """View (outputs, inputs) of the gradient of this part's weights; None if there is none."""
        gradient = self.module.weight.grad
        return None if gradient is None else self._view(gradient)

    @property
    def bias(self) -> Tensor | None:
        """View (outputs,) of this part's bias; None if the map has none."""
        return None if self.module.bias is None else self._part(self.module.bias)

    def _view(self, whole: Tensor) -> Tensor:
        """Return this part (outputs, inputs) of a tensor of the shape of `module.weight`."""
        return self._part(whole if self.output_axis == 0 else whole.T)

    def _part(self, whole: Tensor) -> Tensor:
        return whole if self.parts == 1 else whole.narrow(0, self.part * self.outputs, self.outputs)


def whole(module: "nn.Module | Projection") -> Projection:
    """Return the projection of a whole module; return a projection unchanged."""
    return module if isinstance(module, Projection) else Projection(module)


def keep_outputs(projections: Sequence[Projection], kept: Tensor) -> None:
    """Keep in each projection only the outputs `kept`, ascending (n,).  Raises ValueError for a part of a module."""
    modules = {id(projection.module): projection for projection in projections}
    for projection in modules.values():
        shared = [p for p in projections if p.module is projection.module]
        if sorted(p.part for p in shared) != list(range(projection.parts)):
            raise ValueError(f"all {projection.parts} parts of a fused module must be cut together")
        rows = torch.cat([kept + part * projection.outputs for part in range(projection.parts)])
        _replace(projection.module, "weight", projection.output_axis, rows)
        _replace(projection.module, "bias", 0, rows)
        _set_width(projection.module, ("out_features", "nf"), len(rows))


def keep_inputs(projection: Projection, kept: Tensor) -> None:
    """Keep only the inputs `kept` (ascending indices, (n,)) of a projection; its bias stays."""
    _replace(projection.module, "weight", 1 - projection.output_axis, kept)
    _set_width(projection.module, ("in_features", "nx"), len(kept))


def _replace(module: nn.Module, name: str, axis: int, kept: Tensor) -> None:
    old = getattr(module, name)
    if old is None:
        return
    new = old.detach().index_select(axis, kept.to(old.device)).contiguous()
    # An empty parameter never gets a gradient, and DDP waits for the gradients of all parameters that require one.
    requires_grad = old.requires_grad and new.numel() > 0
    setattr(module, name, nn.Parameter(new, requires_grad=requires_grad))


def _set_width(module: nn.Module, names: tuple[str, ...], width: int) -> None:
    """Set the attribute in which nn.Linear and Conv1D record their width."""
    for name in names:
        if hasattr(module, name):
            setattr(module, name, width)


@dataclass
class AttentionBlock:
    """Multi-head attention; head i owns outputs i·k … (i+1)·k of query, key and value.

    In grouped attention, a head of this block is a group: g query heads that share one head of key and value, and
    can only be removed together; it owns g·k outputs of query and g·k inputs of out.
    name: unique in the model, e.g. "encoder.0.self_attention"; methods choose blocks by it.  group: g.
    set_shape: called after a cut with the new number of heads, which the family records for its forward pass.
    set_recorder: makes the family's attention report its weights; a call with None ends this.
    protected: heads that always stay.
    """

    name: str
    query: Projection
    key: Projection
    value: Projection
    out: Projection
    heads: int
    head_size: int
    set_shape: Callable[[int], object] = lambda heads: None
    set_recorder: Callable[[Recorder | None], None] | None = None
    group: int = 1
    protected: frozenset[int] = frozenset()

    def __post_init__(self):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, whole(getattr(self, name)))
        width, wide = self.heads * self.head_size, self.heads * self.outlet_size
        widths = [self.query.outputs, self.key.outputs, self.value.outputs, self.out.inputs]
        if widths != [wide, width, width, wide]:
            raise ValueError(
                f"{self.name}: projections of widths {widths} do not hold {self.heads} heads of "
                f"size {self.head_size}"
            )

    @property
    def outlet_size(self) -> int:
        """Outputs of query, and inputs of out, that a head owns: g·k."""
        return self.group * self.head_size

    @classmethod
    def of(cls, name: str, module: nn.Module) -> Self:
        """Make the block of a module by its `query`, …, `heads` and `head_size`; set its `heads` and `record`."""
        return cls(
            name,
            *(Projection(getattr(module, part)) for part in ("query", "key", "value", "out")),
            heads=module.heads,
            head_size=module.head_size,
            set_shape=lambda heads: setattr(module, "heads", heads),
            set_recorder=lambda recorder: setattr(module, "record", recorder),
        )

    def keep(self, heads: Sequence[int]) -> None:
        """Keep only these heads (ascending); `cut` checks them."""
        chosen = torch.tensor(list(heads), dtype=torch.long)
        kept, wide = (  # (heads·k,), (heads·g·k,)
            (chosen[:, None] * size + torch.arange(size)).flatten()
            for size in (self.head_size, self.outlet_size)
        )
        if self.group == 1:  # parts of a fused module are cut together
            keep_outputs([self.query, self.key, self.value], kept)
        else:
            keep_outputs([self.key, self.value], kept)
            keep_outputs([self.query], wide)
        keep_inputs(self.out, wide)
        self.heads = len(heads)
        self.set_shape(self.heads)


@dataclass
class FeedForwardBlock:
    """Two linear maps with an activation between them; neuron n is output n of `inner` and input n of `outer`.

    set_shape: called with the new number of neurons after a cut.  gate: map whose outputs multiply the activations.
    """

    name: str
    inner: Projection
    outer: Projection
    set_shape: Callable[[int], object] = lambda neurons: None
    gate: Projection | None = None

    def __post_init__(self):
        self.inner, self.outer = whole(self.inner), whole(self.outer)
        self.gate = None if self.gate is None else whole(self.gate)
        for inner in self.inward:
            if inner.outputs != self.outer.inputs:
                raise ValueError(
                    f"{self.name}: {inner.outputs} outputs of the inner map do not match "
                    f"{self.outer.inputs} inputs of the outer one"
                )

    @property
    def inward(self) -> list[Projection]:
        """Maps whose outputs are the neurons."""
        return [self.inner] if self.gate is None else [self.inner, self.gate]

    @classmethod
    def of(cls, name: str, module: nn.Module) -> Self:
        """Make the block of a module with linear maps `inner` and `outer`."""
        return cls(name, Projection(module.inner), Projection(module.outer))

    @property
    def neurons(self) -> int:
        """Present width f."""
        return self.inner.outputs

    def keep(self, neurons: Sequence[int]) -> None:
        """Keep only these neurons (ascending); `cut` checks them."""
        kept = torch.tensor(list(neurons), dtype=torch.long)
        for inner in self.inward:
            keep_outputs([inner], kept)
        keep_inputs(self.outer, kept)
        self.set_shape(self.neurons)


@dataclass
class LayerStack:
    """Stack of layers, applied one after another; the last ones are its top.

    depth: more than the number of layers if one is applied repeatedly.  set_depth: called with the depth after a cut.
    keeps_last: the last layer always stays; those below it are removed.
    """

    name: str
    layers: nn.ModuleList
    depth: int
    set_depth: Callable[[int], object] = lambda depth: None
    keeps_last: bool = False

    def keep(self, depth: int) -> None:
        """Keep the first `depth` layers, or with keeps_last the first `depth` − 1 and the last.

        Raises ValueError if there are fewer.
        """
        if not 1 <= depth <= self.depth:
            raise ValueError(f"{self.name}: {depth} of its {self.depth} layers cannot be kept")
        del self.layers[slice(depth - 1, -1) if self.keeps_last else slice(depth, None)]
        self.depth = depth
        self.set_depth(depth)


class Prunable(Protocol):
    """Model, or a family's view of one, that lists its blocks in the order of its layers."""

    def attention_blocks(self) -> Sequence[AttentionBlock]:
        """List the attention blocks whose heads may be scored and cut."""

    def feed_forward_blocks(self) -> Sequence[FeedForwardBlock]:
        """List the feed-forward blocks whose neurons may be scored and cut."""

    def layer_stacks(self) -> Sequence[LayerStack]:
        """List the stacks whose top layers may be removed."""
