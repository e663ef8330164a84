"""Construction of graphs: nodes are named by number, weights by their role."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR = 17, 8  # the oldest with LayerNormalization; older engines can read the graphs
TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}


class Graph:
    """Collector of one ONNX graph's nodes; values are handled by their names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}

    def add(self, operation: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add a node with one output; return the output's name."""
        output = name or f"{operation}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    def weight(self, name: str, array: np.ndarray) -> str:
        """Add a tensor of the model, stored once however often it is used."""
        if name not in self.weights:
            self.weights[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def constant(self, value: Any, dtype: type = np.int64) -> str:
        """Add a number or list that the graph itself needs."""
        array = np.array(value, dtype=dtype)
        return self.weight(f"constant.{array.dtype}.{array.tolist()}", array)

    def model(
        self,
        name: str,
        inputs: Mapping[str, tuple[str, Sequence[str | int]]],
        outputs: Mapping[str, tuple[str, Sequence[str | int]]],
    ) -> onnx.ModelProto:
        """Return the finished, checked graph.  inputs, outputs: name → (type, shape; words are sizes that vary)."""
        ends = [
            [helper.make_tensor_value_info(key, TYPES[kind], shape) for key, (kind, shape) in side.items()]
            for side in (inputs, outputs)
        ]  # fmt: skip
        graph = helper.make_graph(self.nodes, name, *ends, initializer=list(self.weights.values()))
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR,
            producer_name="weebill",
        )
        onnx.checker.check_model(model, full_check=True)
        return model
