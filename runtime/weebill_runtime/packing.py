"""Packing of weights for the engine: fused linear maps, padded heads, weights in the type of the products."""

import math
from typing import Any

import numpy as np

from weebill_runtime.errors import InputError
from weebill_runtime.weights import Weights

VECTOR = 16  # numbers of a head are padded to a multiple of this
Parts = dict[str, Any]


def fits_engine(weights: Weights) -> bool:
    """Return True if the engine can hold a student: whole vectors, weights all of one kind."""
    if weights.architecture.embedding % VECTOR:
        return False
    return not weights.integer or not any(
        name.endswith(".weight") and value.ndim == 2 and value.size
        for name, value in weights.tensors.items()
    )


class Packer:
    """Converter of weights to the engine's arrays; numbers: type of the products: int8, float32, bfloat16."""

    def __init__(self, weights: Weights, numbers: str):
        self.weights, self.numbers = weights, numbers
        self.integer = numbers == "int8"

    def network(self) -> Parts:
        """Return all parts of the network."""
        architecture = self.weights.architecture
        table = self._table("embedding")
        own = architecture.source_vocabulary is not None
        encoder, decoder = (
            range(len(side)) for side in (architecture.encoder, architecture.decoder)
        )
        return {
            "embedding": table,
            "source_embedding": self._table("source_embedding") if own else table,
            "encoder": [self._encoder(index) for index in encoder],
            "decoder": [self._decoder(index) for index in decoder],
            "decoder_depth": architecture.decoder_depth,
            "recurrent": architecture.decoder_kind == "ssru",
            "output": self._linear("output"),
        }

    def _table(self, name: str) -> Parts:
        weight, scale = self._weight(name)
        return {"weight": weight, "scale": _each(scale, len(weight))}

    def _encoder(self, index: int) -> Parts:
        place, layer = f"encoder.{index}", self.weights.architecture.encoder[index]
        attention, size = f"{place}.self_attention", layer.head_size
        return {
            "heads": _heads(layer.heads, size),
            "projections": self._projections(attention, size, "query", "key", "value"),
            "out": self._out(attention, size),
            "attention_norm": self._norm(f"{place}.attention_norm"),
            **self._feed_forward(place),
        }

    def _decoder(self, index: int) -> Parts:
        place, layer = f"decoder.{index}", self.weights.architecture.decoder[index]
        attention, size = f"{place}.cross_attention", layer.head_size
        parts = {
            "self_norm": self._norm(f"{place}.self_norm"),
            "heads": _heads(layer.heads, size),
            "query": self._projections(attention, size, "query"),
            "memory": self._projections(attention, size, "key", "value"),
            "out": self._out(attention, size),
            "attention_norm": self._norm(f"{place}.cross_norm"),
            **self._feed_forward(place),
        }
        if self.weights.architecture.decoder_kind == "ssru":
            unit = f"{place}.recurrence"
            return parts | {"gates": self._linear(f"{unit}.candidate", f"{unit}.forget")}
        own = f"{place}.self_attention"
        return parts | {
            "self_heads": _heads(layer.self_heads, size),
            "self_projections": self._projections(own, size, "query", "key", "value"),
            "self_out": self._out(own, size),
        }

    def _feed_forward(self, place: str) -> Parts:
        return {
            "inner": self._linear(f"{place}.feed_forward.inner"),
            "outer": self._linear(f"{place}.feed_forward.outer"),
            "feed_forward_norm": self._norm(f"{place}.feed_forward_norm"),
        }

    def _norm(self, name: str) -> Parts:
        tensors = self.weights.tensors
        return {"gain": tensors[f"{name}.weight"], "bias": tensors[f"{name}.bias"]}

    def _projections(self, attention: str, size: int, *names: str) -> Parts:
        """Fuse some of query, key, value into one map; pad the outputs of each head with zeros."""
        packed = self._linear(*(f"{attention}.{name}" for name in names))
        for name in ("weight", "step", "bias"):
            packed[name] = _padded_heads(packed[name], size)
        return packed

    def _out(self, attention: str, size: int) -> Parts:
        """Return the output map, its inputs padded as the heads are."""
        packed = self._linear(f"{attention}.out")
        packed["weight"] = np.ascontiguousarray(_padded_heads(packed["weight"].T, size).T)
        return packed

    def _linear(self, *names: str) -> Parts:
        """Stack maps of one input."""
        weights, weight_scales = zip(*map(self._weight, names), strict=True)
        filled = [name for name, weight in zip(names, weights, strict=True) if weight.size]
        scales = {self.weights.activation_scale(name) or 1.0 for name in filled} or {1.0}
        if len(scales) > 1:
            raise InputError(
                f"maps of one input have the activation scales {sorted(scales)}, and want one; quantize the model "
                "again"
            )
        scale = scales.pop() if self.integer else 1.0
        one = np.ones(1, np.float32)
        steps, biases = [], []
        for name, weight, weight_scale in zip(names, weights, weight_scales, strict=True):
            step = one / (np.float32(scale) * weight_scale) if self.integer else one
            steps.append(_each(step, len(weight)))
            bias = self.weights.tensors.get(f"{name}.bias")
            biases.append(np.zeros(len(weight), np.float32) if bias is None else bias)
        return {
            "weight": _stacked(weights),
            "step": _stacked(steps),
            "bias": _stacked(biases),
            "scale": scale,
        }

    def _weight(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a weight (rows, columns) as int8 codes, float32 or bfloat16 bits, and its scale (1,) or (rows,)."""
        one = np.ones(1, np.float32)
        if self.integer:
            if found := self.weights.codes(name):
                return found
            if not (weight := self.weights.numbers(name)).size:  # no heads or no neurons are left
                return weight.astype(np.int8), one
            raise InputError(
                "the runtime wants all weights of an int8 student in int8; this one leaves some in "
                "float32 (config.json: quantization.skip)"
            )
        weight = self.weights.numbers(name)
        if self.numbers == "bfloat16":  # to the nearest, ties to even
            bits = np.ascontiguousarray(weight).view(np.uint32)
            weight = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).view(np.int16)
        return weight, one


def _each(scale: np.ndarray, rows: int) -> np.ndarray:
    return np.ascontiguousarray(np.broadcast_to(scale, (rows,)))


def _stacked(parts: tuple[np.ndarray, ...] | list[np.ndarray]) -> np.ndarray:
    """Concatenate; a single array is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _heads(count: int, size: int) -> Parts:
    return {"count": count, "size": _padded(size), "scale": 1 / math.sqrt(size)}


def _padded(number: int) -> int:
    return -(-number // VECTOR) * VECTOR


def _padded_heads(x: np.ndarray, size: int) -> np.ndarray:
    """Pad every head of x (times·h·k, …) with zeros."""
    count, padded, rest = len(x) // size, _padded(size), x.shape[1:]
    heads = np.zeros((count, padded, *rest), x.dtype)
    heads[:, :size] = x.reshape(count, size, *rest)
    return heads.reshape(count * padded, *rest)
