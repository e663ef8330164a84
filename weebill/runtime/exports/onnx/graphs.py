"""Both graphs of a student, with their inputs and outputs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
import torch

from weebill.runtime.exports.onnx.graph import Graph
from weebill.runtime.exports.onnx.layers import Layers, array
from weebill.translation.model.network import Translator

Ends = dict[str, tuple[str, Sequence[str | int]]]


@dataclass
class Interface:
    """Inputs and outputs of both graphs by name: type and shape, words for sizes that vary.

    states: outputs of the decoder that are its inputs in the next step, output → input.
    """

    encoder_inputs: Ends = field(default_factory=dict)
    memory: Ends = field(default_factory=dict)
    decoder_inputs: Ends = field(default_factory=dict)
    decoder_outputs: Ends = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)


def interface(network: Translator) -> Interface:
    """Return inputs and outputs of a network's graphs."""
    ends = Interface()
    ends.encoder_inputs = {
        "source": ("int64", ["sentences", "source"]),
        "mask": ("bool", ["sentences", "source"]),
    }
    for index, layer in enumerate(network.decoder):
        cross = layer.cross_attention
        if cross.heads:
            shape = ["sentences", cross.heads, "source", cross.head_size]
            ends.memory |= {name: ("float32", shape) for name in _memory(index)}
    ends.decoder_inputs = {
        "previous": ("int64", ["sentences"]),
        "position": ("int64", []),
        "mask": ends.encoder_inputs["mask"],
        **ends.memory,
    }
    ends.decoder_outputs = {"logits": ("float32", ["sentences", network.embedding.num_embeddings])}
    for step, layer in enumerate(network.decoder_layers()):
        if layer.kind == "ssru":
            shapes = [["sentences", 1, network.width]] * 2
        elif layer.self_attention.heads:
            own = layer.self_attention
            shapes = [["sentences", own.heads, past, own.head_size] for past in ("past", "present")]
        else:
            continue
        for name in _states(step, layer.kind):
            ends.decoder_inputs[name] = ("float32", shapes[0])
            ends.decoder_outputs[f"{name}.next"] = ("float32", shapes[1])
            ends.states[f"{name}.next"] = name
    return ends


def encoder(network: Translator, ends: Interface) -> onnx.ModelProto:
    """Build the graph from source pieces to the keys and values that the decoder's layers attend to."""
    graph = Graph()
    layers = Layers(graph, network)
    mask = _attention_mask(graph)
    length = graph.add("Gather", graph.add("Shape", "source"), graph.constant(1))
    positions = graph.add("Range", graph.constant(0), length, graph.constant(1))
    x = _embed(graph, network, "source", positions)
    for layer in network.encoder:
        x = layers.encoder_layer(x, layer, mask)
    for index, layer in enumerate(network.decoder):
        layers.memory(x, layer.cross_attention, _memory(index))
    return graph.model("encoder", ends.encoder_inputs, ends.memory)


def decoder(network: Translator, ends: Interface) -> onnx.ModelProto:
    """Build the graph of one step: from the last pieces, −1 at the beginning, to the scores of the next."""
    graph = Graph()
    layers = Layers(graph, network)
    mask = _attention_mask(graph)
    one = graph.constant([1])
    tokens = graph.add("Unsqueeze", "previous", one)  # (b, 1)
    x = _embed(graph, network, tokens, graph.add("Unsqueeze", "position", graph.constant([0])))
    tied = len(network.decoder) < network.decoder_depth
    for step, layer in enumerate(network.decoder_layers()):
        names = _memory(0 if tied else step)
        memory = names if names[0] in ends.memory else None
        states = _states(step, layer.kind)
        if layer.kind == "ssru":
            mixed, _ = layers.recurrence(x, states[0], layer.recurrence, f"{states[0]}.next")
        else:
            past = None
            if layer.self_attention.heads:
                new = layers.memory(x, layer.self_attention)
                past = tuple(
                    graph.add("Concat", state, part, axis=2, name=f"{state}.next")
                    for state, part in zip(states, new, strict=True)
                )
            mixed = layers.attend(x, layer.self_attention, past, None)
        x = layers.decoder_layer(x, layer, mixed, memory, mask)
    graph.add(
        "Gemm",
        graph.add("Squeeze", x, one),
        graph.weight("embedding.weight", array(network.embedding.weight)),
        graph.weight("output.bias", array(network.output.bias)),
        transB=1,
        name="logits",
    )
    return graph.model("decoder", ends.decoder_inputs, ends.decoder_outputs)


def _memory(index: int) -> tuple[str, str]:
    return f"memory.{index}.keys", f"memory.{index}.values"


def _states(step: int, kind: str) -> tuple[str, ...]:
    state = f"state.{step}"
    return (f"{state}.cell",) if kind == "ssru" else (f"{state}.keys", f"{state}.values")


def _attention_mask(graph: Graph) -> str:
    return graph.add("Unsqueeze", "mask", graph.constant([1, 2]))  # (b, 1, 1, s)


def _embed(graph: Graph, network: Translator, tokens: str, positions: str) -> str:
    """Add embeddings × sqrt(d), zero for negative tokens (b, n), plus sinusoids of positions (n,)."""
    add, half = graph.add, network.width // 2
    table = graph.weight("embedding.weight", array(network.embedding.weight))
    rows = add("Gather", table, add("Max", tokens, graph.constant(0)))
    scaled = add("Mul", rows, graph.constant(math.sqrt(network.width), np.float32))
    begins = add("Unsqueeze", add("Less", tokens, graph.constant(0)), graph.constant([2]))
    x = add("Where", begins, graph.constant(0.0, np.float32), scaled)
    rates = torch.exp(torch.arange(half) * (-math.log(10000.0) / max(1, half - 1)))
    column = add("Unsqueeze", add("Cast", positions, to=onnx.TensorProto.FLOAT), graph.constant([1]))  # fmt: skip
    angles = add("Mul", column, graph.weight("position_rates", rates.numpy()))  # (n, d/2)
    return add("Add", x, add("Concat", add("Sin", angles), add("Cos", angles), axis=-1))
