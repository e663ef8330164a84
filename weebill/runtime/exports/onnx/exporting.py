"""Export to a folder of two float32 graphs, an encoder and one step of the decoder, with their description."""

import math
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch

from weebill.files import atomic_folder, read_json, write_json
from weebill.runtime.exports.input_note import NAME, input_note
from weebill.runtime.exports.onnx.layers import Ends, Graph, Pair
from weebill.runtime.exports.verification import close, in_float32, samples
from weebill.translation.model.network import START, Translator
from weebill_runtime.vocabulary import EOS, UNK, AnyVocabulary, copy_vocabulary

DESCRIPTION = "model.json"
USAGE = Path(__file__).with_name("usage.txt")  # the README of exports


def export(network: Translator, vocabulary: AnyVocabulary, folder: str | Path) -> None:
    """Write encoder.onnx, decoder.onnx, model.json, a README and the vocabulary, atomically, in float32.

    onnxruntime must reproduce the network's scores before the folder appears.
    """
    network = in_float32(network)
    encoder_ends, decoder_ends, states = interface(network)
    with atomic_folder(folder) as partial:
        onnx.save(encoder(network, *encoder_ends), partial / "encoder.onnx")
        onnx.save(decoder(network, *decoder_ends), partial / "decoder.onnx")
        copy_vocabulary(vocabulary, partial)
        description = {
            "format": "weebill-onnx-1",
            "vocabulary": len(vocabulary.target),
            "start": START,
            "end": EOS,
            "unknown": UNK,
            "encoder": dict(zip(("inputs", "outputs"), encoder_ends, strict=True)),
            "decoder": dict(zip(("inputs", "outputs"), decoder_ends, strict=True)),
            "states": states,
        }
        write_json(partial / DESCRIPTION, description)
        usage, note = USAGE.read_text(encoding="utf-8"), input_note(vocabulary.normalisation)
        (partial / NAME).write_text(f"{usage}\n{note}" if note else usage, encoding="utf-8")
        _verify(OnnxStudent(partial), network, folder)


def interface(network: Translator) -> tuple[tuple[Ends, Ends], tuple[Ends, Ends], dict[str, str]]:
    """Return inputs and outputs of encoder and decoder; and states, outputs → inputs of the decoder's next step."""
    shape = ["sentences", "source"]
    source = {"source": ("int64", shape), "mask": ("bool", shape)}
    memory: Ends = {}
    for index, layer in enumerate(network.decoder):
        cross = layer.cross_attention
        if cross.heads:
            shape = ["sentences", cross.heads, "source", cross.head_size]
            memory |= {name: ("float32", shape) for name in _memory(index)}
    inputs: Ends = {"previous": ("int64", ["sentences"]), "position": ("int64", [])}
    inputs |= {"mask": source["mask"], **memory}
    outputs: Ends = {"logits": ("float32", ["sentences", network.embedding.num_embeddings])}
    states = {}
    for step, layer in enumerate(network.decoder_layers()):
        if layer.kind == "ssru":
            shapes = [["sentences", 1, network.width]] * 2
        elif layer.self_attention.heads:
            own = layer.self_attention
            shapes = [["sentences", own.heads, past, own.head_size] for past in ("past", "present")]
        else:
            continue
        for name in _states(step, layer.kind):
            inputs[name], outputs[f"{name}.next"] = (("float32", shape) for shape in shapes)
            states[f"{name}.next"] = name
    return (source, memory), (inputs, outputs), states


def encoder(network: Translator, inputs: Ends, outputs: Ends) -> onnx.ModelProto:
    """Build the graph from source pieces to the keys and values that the decoder's layers attend to."""
    graph = Graph(network)
    mask = _attention_mask(graph)
    length = graph.add("Gather", graph.add("Shape", "source"), graph.constant(1))
    positions = graph.add("Range", graph.constant(0), length, graph.constant(1))
    x = _embed(graph, network.source_embedding or network.embedding, "source", positions)
    for layer in network.encoder:
        x = graph.encoder_layer(x, layer, mask)
    for index, layer in enumerate(network.decoder):
        graph.memory(x, layer.cross_attention, _memory(index))
    return graph.model("encoder", inputs, outputs)


def decoder(network: Translator, inputs: Ends, outputs: Ends) -> onnx.ModelProto:
    """Build the graph of one step: from the last pieces, −1 at the beginning, to the scores of the next."""
    graph = Graph(network)
    mask = _attention_mask(graph)
    one = graph.constant([1])
    tokens = graph.add("Unsqueeze", "previous", one)  # (b, 1)
    position = graph.add("Unsqueeze", "position", graph.constant([0]))
    x = _embed(graph, network.embedding, tokens, position)
    tied = len(network.decoder) < network.decoder_depth
    for step, layer in enumerate(network.decoder_layers()):
        names = _memory(0 if tied else step)
        memory = names if names[0] in inputs else None
        states = _states(step, layer.kind)
        if layer.kind == "ssru":
            mixed = graph.recurrence(x, states[0], layer.recurrence, f"{states[0]}.next")
        else:
            past = None
            if layer.self_attention.heads:
                new = graph.memory(x, layer.self_attention)
                past = tuple(
                    graph.add("Concat", state, part, axis=2, name=f"{state}.next")
                    for state, part in zip(states, new, strict=True)
                )
            mixed = graph.attend(x, layer.self_attention, past, None)
        x = graph.decoder_layer(x, layer, mixed, memory, mask)
    table, bias = graph.weight(network.embedding), graph.weight(network.output, "bias")
    graph.add("Gemm", graph.add("Squeeze", x, one), table, bias, transB=1, name="logits")
    return graph.model("decoder", inputs, outputs)


def _memory(index: int) -> Pair:
    return f"memory.{index}.keys", f"memory.{index}.values"


def _states(step: int, kind: str) -> tuple[str, ...]:
    state = f"state.{step}"
    return (f"{state}.cell",) if kind == "ssru" else (f"{state}.keys", f"{state}.values")


def _attention_mask(graph: Graph) -> str:
    return graph.add("Unsqueeze", "mask", graph.constant([1, 2]))  # (b, 1, 1, s)


def _embed(graph: Graph, table: torch.nn.Embedding, tokens: str, positions: str) -> str:
    """Add embeddings of a table × sqrt(d), zero for negative tokens (b, n), plus sinusoids of positions (n,)."""
    add, width = graph.add, table.embedding_dim
    half = width // 2
    rows = add("Gather", graph.weight(table), add("Max", tokens, graph.constant(0)))
    scaled = add("Mul", rows, graph.constant(math.sqrt(width), np.float32))
    begins = add("Unsqueeze", add("Less", tokens, graph.constant(0)), graph.constant([2]))
    x = add("Where", begins, graph.constant(0.0, np.float32), scaled)
    rates = torch.exp(torch.arange(half) * (-math.log(10000.0) / max(1, half - 1)))
    column = add("Unsqueeze", add("Cast", positions, to=onnx.TensorProto.FLOAT), graph.constant([1]))  # fmt: skip
    angles = add("Mul", column, graph.stored("position_rates", rates.numpy()))  # (n, d/2)
    return add("Add", x, add("Concat", add("Sin", angles), add("Cos", angles), axis=-1))


class OnnxStudent:
    """Exported folder on one thread of a CPU."""

    def __init__(self, folder: str | Path):
        folder = Path(folder)
        self.description = read_json(folder / DESCRIPTION)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        files, cpu = (folder / "encoder.onnx", folder / "decoder.onnx"), ["CPUExecutionProvider"]
        self.encoder, self.decoder = (
            onnxruntime.InferenceSession(str(file), options, providers=cpu) for file in files
        )

    def start(self, source: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
        """Return the decoder's inputs of its first step.  source, mask: (b, s), mask True for pieces."""
        names = [output.name for output in self.encoder.get_outputs()]
        memory = self.encoder.run(names, {"source": source, "mask": mask}) if names else []
        inputs = {"mask": mask, **dict(zip(names, memory, strict=True))}
        for end in self.decoder.get_inputs():
            if end.name in self.description["states"].values():
                sizes = {"sentences": len(source), "past": 0}
                inputs[end.name] = np.zeros([sizes.get(n, n) for n in end.shape], np.float32)
        inputs["previous"] = np.full(len(source), self.description["start"], np.int64)
        inputs["position"] = np.array(0, np.int64)
        return inputs

    def step(self, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return scores (b, V) of the next pieces, and the next step's inputs except `previous`."""
        names = ["logits", *self.description["states"]]
        wanted = {end.name for end in self.decoder.get_inputs()}
        given = {name: value for name, value in inputs.items() if name in wanted}
        logits, *states = self.decoder.run(names, given)
        changed = dict(zip(self.description["states"].values(), states, strict=True))
        position = np.asarray(inputs["position"] + 1)
        return logits, {**inputs, **changed, "position": position}


@torch.inference_mode()
def _verify(student: OnnxStudent, network: Translator, folder: str | Path) -> None:
    source, mask, target = samples(network.architecture)
    inputs = student.start(source.numpy(), mask.numpy())
    state = network.start(network.encode(source, mask), mask)
    previous = torch.full((len(source),), START)
    for step in range(target.shape[1] + 1):
        found, inputs = student.step(inputs | {"previous": previous.numpy()})
        expected, state = network.step(previous, state)
        close(torch.from_numpy(found), expected, folder)
        if step < target.shape[1]:
            previous = target[:, step]
