"""Layers of `weebill.translation.model.layers` as ONNX nodes.

Shapes: b sentences, n positions, s source positions, t target positions so far, d width, h heads, k head size.
"""

import math

import numpy as np
from torch import nn

from weebill.runtime.exports.onnx.graph import Graph
from weebill.translation.model.layers import (
    SSRU,
    Attention,
    DecoderLayer,
    EncoderLayer,
    FeedForward,
)

Pair = tuple[str, str]


class Layers:
    """Builder of a graph's layers; a module's name in the network names its weights."""

    def __init__(self, graph: Graph, network: nn.Module):
        self.graph = graph
        self.names = {module: name for name, module in network.named_modules()}

    def linear(self, x: str, module: nn.Module) -> str:
        """Map x (b, n, in) → (b, n, out)."""
        name = self.names[module]
        y = self.graph.add("MatMul", x, self.graph.weight(f"{name}.weight", array(module.weight).T))
        if module.bias is None:
            return y
        return self.graph.add("Add", y, self.graph.weight(f"{name}.bias", array(module.bias)))

    def add_norm(self, x: str, change: str, norm: nn.LayerNorm) -> str:
        """Add LayerNorm(x + change)."""
        name = self.names[norm]
        return self.graph.add(
            "LayerNormalization",
            self.graph.add("Add", x, change),
            self.graph.weight(f"{name}.weight", array(norm.weight)),
            self.graph.weight(f"{name}.bias", array(norm.bias)),
            axis=-1,
            epsilon=norm.eps,
        )

    def project(
        self, x: str, module: nn.Module, attention: Attention, name: str | None = None
    ) -> str:
        """Project x (b, n, d) → (b, h, n, k)."""
        shape = self.graph.constant([0, 0, attention.heads, attention.head_size])  # 0: as it is
        split = self.graph.add("Reshape", self.linear(x, module), shape)
        return self.graph.add("Transpose", split, perm=[0, 2, 1, 3], name=name)

    def attend(self, x: str, attention: Attention, memory: Pair | None, mask: str | None) -> str:
        """Attend from x (b, n, d) to keys and values (b, h, s, k); mask (b, 1, 1, s): False hides a position."""
        add, constant = self.graph.add, self.graph.constant
        if memory is None:  # all heads are pruned: only the output bias is left
            return self.graph.weight(f"{self.names[attention]}.out.bias", array(attention.out.bias))
        keys, values = memory
        q = add(
            "Mul",
            self.project(x, attention.query, attention),
            constant(1 / math.sqrt(attention.head_size), np.float32),
        )
        scores = add("MatMul", q, add("Transpose", keys, perm=[0, 1, 3, 2]))  # (b, h, n, s)
        if mask is not None:
            scores = add("Where", mask, scores, constant(-math.inf, np.float32))
        mixed = add("MatMul", add("Softmax", scores, axis=-1), values)
        joined = add(
            "Reshape",
            add("Transpose", mixed, perm=[0, 2, 1, 3]),
            constant([0, 0, attention.heads * attention.head_size]),
        )
        return self.linear(joined, attention.out)

    def feed_forward(self, x: str, block: FeedForward) -> str:
        """Map x (b, n, d) → (b, n, d)."""
        if not block.inner.out_features:
            return self.graph.weight(f"{self.names[block]}.outer.bias", array(block.outer.bias))
        return self.linear(self.graph.add("Relu", self.linear(x, block.inner)), block.outer)

    def encoder_layer(self, x: str, layer: EncoderLayer, mask: str) -> str:
        """Map x (b, s, d) → (b, s, d)."""
        attention = layer.self_attention
        memory = self.memory(x, attention)
        x = self.add_norm(x, self.attend(x, attention, memory, mask), layer.attention_norm)
        return self.add_norm(x, self.feed_forward(x, layer.feed_forward), layer.feed_forward_norm)

    def memory(self, x: str, attention: Attention, names: Pair = (None, None)) -> Pair | None:
        """Add keys and values of x; return None if there is no head."""
        if not attention.heads:
            return None
        return (
            self.project(x, attention.key, attention, names[0]),
            self.project(x, attention.value, attention, names[1]),
        )

    def recurrence(self, x: str, cell: str, unit: SSRU, name: str) -> tuple[str, str]:
        """Add the next state of `cell` (b, 1, d) for x (b, 1, d): f⊙c + (1 − f)⊙x̂ as x̂ + f⊙(c − x̂), named `name`."""
        add = self.graph.add
        forget, candidate = add("Sigmoid", self.linear(x, unit.forget)), self.linear(x, unit.candidate)  # fmt: skip
        change = add("Mul", forget, add("Sub", cell, candidate))
        state = add("Add", candidate, change, name=name)
        return add("Relu", state), state

    def decoder_layer(
        self, x: str, layer: DecoderLayer, mixed: str, memory: Pair | None, mask: str
    ) -> str:
        """Add a decoder layer for x (b, 1, d), given `mixed`, the output of its self-attention or recurrence."""
        x = self.add_norm(x, mixed, layer.self_norm)
        x = self.add_norm(x, self.attend(x, layer.cross_attention, memory, mask), layer.cross_norm)
        return self.add_norm(x, self.feed_forward(x, layer.feed_forward), layer.feed_forward_norm)


def array(tensor: nn.Parameter) -> np.ndarray:
    """Return a weight of a float32 network."""
    return tensor.detach().numpy()
