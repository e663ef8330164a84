"""Construction of ONNX graphs from the layers of `weebill.translation.model.layers`.

Shapes: b sentences, n positions, s source positions, t target positions so far, d width, h heads, k head size.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from weebill.translation.model import layers

OPSET, IR = 17, 8  # the oldest with LayerNormalization; older engines can read the graphs
TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}

Pair = tuple[str, str]
# Name -> (type, shape; words are sizes that vary).
Ends = dict[str, tuple[str, Sequence[str | int]]]


class Graph:
    """Collector of one ONNX graph's nodes, which are named by number; weights have the names of the network's."""

    def __init__(self, network: nn.Module) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}
        self.names = {module: name for name, module in network.named_modules()}

    def add(self, operation: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add a node with one output; return the output's name."""
        output = name or f"{operation}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    def stored(self, name: str, array: np.ndarray) -> str:
        """Add a tensor, stored once however often it is used."""
        if name not in self.weights:
            self.weights[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def weight(self, module: nn.Module, part: str = "weight", transposed: bool = False) -> str:
        """Add a weight of a module of the network."""
        array = module.get_parameter(part).detach().numpy()
        return self.stored(f"{self.names[module]}.{part}", array.T if transposed else array)

    def constant(self, value: Any, dtype: type = np.int64) -> str:
        """Add a number or list that the graph itself needs."""
        array = np.array(value, dtype=dtype)
        return self.stored(f"constant.{array.dtype}.{array.tolist()}", array)

    def model(self, name: str, inputs: Ends, outputs: Ends) -> onnx.ModelProto:
        """Return the finished, checked graph."""
        ends = [
            [helper.make_tensor_value_info(key, TYPES[kind], shape) for key, (kind, shape) in side.items()]
            for side in (inputs, outputs)
        ]  # fmt: skip
        graph = helper.make_graph(self.nodes, name, *ends, initializer=list(self.weights.values()))
        maker = {"opset_imports": [helper.make_opsetid("", OPSET)], "producer_name": "weebill"}
        model = helper.make_model(graph, ir_version=IR, **maker)
        onnx.checker.check_model(model, full_check=True)
        return model

    def linear(self, x: str, module: nn.Module) -> str:
        """Map x (b, n, in) → (b, n, out)."""
        y = self.add("MatMul", x, self.weight(module, transposed=True))
        return y if module.bias is None else self.add("Add", y, self.weight(module, "bias"))

    def add_norm(self, x: str, change: str, norm: nn.LayerNorm) -> str:
        """Add LayerNorm(x + change)."""
        inputs = self.add("Add", x, change), self.weight(norm), self.weight(norm, "bias")
        return self.add("LayerNormalization", *inputs, axis=-1, epsilon=norm.eps)

    def project(
        self, x: str, module: nn.Module, attention: layers.Attention, name: str | None = None
    ) -> str:
        """Project x (b, n, d) → (b, h, n, k)."""
        shape = self.constant([0, 0, attention.heads, attention.head_size])  # 0: as it is
        split = self.add("Reshape", self.linear(x, module), shape)
        return self.add("Transpose", split, perm=[0, 2, 1, 3], name=name)

    def attend(
        self, x: str, attention: layers.Attention, memory: Pair | None, mask: str | None
    ) -> str:
        """Attend from x (b, n, d) to keys and values (b, h, s, k); mask (b, 1, 1, s): False hides a position."""
        add, constant = self.add, self.constant
        if memory is None:  # all heads are pruned: only the output bias is left
            return self.weight(attention.out, "bias")
        keys, values = memory
        q = self.project(x, attention.query, attention)
        q = add("Mul", q, constant(1 / math.sqrt(attention.head_size), np.float32))
        scores = add("MatMul", q, add("Transpose", keys, perm=[0, 1, 3, 2]))  # (b, h, n, s)
        if mask is not None:
            scores = add("Where", mask, scores, constant(-math.inf, np.float32))
        mixed = add("MatMul", add("Softmax", scores, axis=-1), values)
        shape = constant([0, 0, attention.heads * attention.head_size])
        joined = add("Reshape", add("Transpose", mixed, perm=[0, 2, 1, 3]), shape)
        return self.linear(joined, attention.out)

    def feed_forward(self, x: str, block: layers.FeedForward) -> str:
        """Map x (b, n, d) → (b, n, d)."""
        if not block.inner.out_features:
            return self.weight(block.outer, "bias")
        return self.linear(self.add("Relu", self.linear(x, block.inner)), block.outer)

    def encoder_layer(self, x: str, layer: layers.EncoderLayer, mask: str) -> str:
        """Map x (b, s, d) → (b, s, d)."""
        attention = layer.self_attention
        memory = self.memory(x, attention)
        x = self.add_norm(x, self.attend(x, attention, memory, mask), layer.attention_norm)
        return self.add_norm(x, self.feed_forward(x, layer.feed_forward), layer.feed_forward_norm)

    def memory(
        self, x: str, attention: layers.Attention, names: Pair = (None, None)
    ) -> Pair | None:
        """Add keys and values of x; return None if there is no head."""
        if not attention.heads:
            return None
        return (
            self.project(x, attention.key, attention, names[0]),
            self.project(x, attention.value, attention, names[1]),
        )

    def recurrence(self, x: str, cell: str, unit: layers.SSRU, name: str) -> str:
        """Map x (b, 1, d) → (b, 1, d); the next state of `cell` is f⊙c + (1 − f)⊙x̂ as x̂ + f⊙(c − x̂), named `name`."""
        forget = self.add("Sigmoid", self.linear(x, unit.forget))
        candidate = self.linear(x, unit.candidate)
        change = self.add("Mul", forget, self.add("Sub", cell, candidate))
        return self.add("Relu", self.add("Add", candidate, change, name=name))

    def decoder_layer(
        self, x: str, layer: layers.DecoderLayer, mixed: str, memory: Pair | None, mask: str
    ) -> str:
        """Add a decoder layer for x (b, 1, d), given `mixed`, the output of its self-attention or recurrence."""
        x = self.add_norm(x, mixed, layer.self_norm)
        x = self.add_norm(x, self.attend(x, layer.cross_attention, memory, mask), layer.cross_norm)
        return self.add_norm(x, self.feed_forward(x, layer.feed_forward), layer.feed_forward_norm)
