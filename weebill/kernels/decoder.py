"""Decoders of generating models in the compiled engine: descriptions of their parts, and the texts that they write.

A description holds the modules of a model with int8 layers, whose weights the engine shares.  It belongs to no
family: flags and missing parts distinguish GPT-2, BART, T5 and Llama.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from weebill.errors import InputError
from weebill.kernels.extension import array
from weebill.kernels.int8_layers import Int8Embedding, Int8Linear


@dataclass(frozen=True)
class Attention:
    """Attention block: `maps` are query, key and value, or one map for all three; none if it has lost all heads.

    heads: number of query heads; `group` of them share a key and a value.  size: numbers of a head.  distances:
    float32 (heads, tokens) or None; it is added to the scores of keys, its last entry to the nearest key's score, and
    its first to those of all keys beyond the table.  query_norm, key_norm: norms of each head's numbers, before their
    rotation.  window: largest number of tokens that a query sees, its own included; None: all before it.
    """

    norm: nn.Module
    maps: Sequence[nn.Module]
    out: nn.Module
    heads: int
    size: int
    scale: float
    distances: Tensor | None = None
    group: int = 1
    query_norm: nn.Module | None = None
    key_norm: nn.Module | None = None
    window: int | None = None


@dataclass(frozen=True)
class Layer:
    """Decoder layer: outer(inner(x)), or outer(inner(x) · gate(x)) with a gate; the maps contain the activation."""

    attention: Attention
    norm: nn.Module
    inner: nn.Module
    outer: nn.Module
    gate: nn.Module | None = None
    cross_attention: Attention | None = None


@dataclass(frozen=True)
class Decoder:
    """Description of a decoder.

    norm_first: x + f(norm(x)); otherwise norm(x + f(x)).  centred: True for LayerNorm, False for RMSNorm.
    embedding_factor: factor of the embeddings.  positions: float32 (largest number of tokens, width) or None; they
    are added to the embeddings.  frequencies: float32 (size / 2,) or None: angles by which a position rotates queries
    and keys, which are multiplied by `rotary_factor` (Su et al. 2021, RoFormer §3.2).  output_factor: factor of the
    states before the output map.
    """

    embedding: Int8Embedding
    layers: Sequence[Layer]
    output: nn.Module
    norm_first: bool
    centred: bool
    epsilon: float
    positions: Tensor | None = None
    embedding_norm: nn.Module | None = None
    last_norm: nn.Module | None = None
    output_factor: float = 1.0
    output_bias: Tensor | None = None
    embedding_factor: float = 1.0
    frequencies: Tensor | None = None
    rotary_factor: float = 1.0


class CompiledDecoder:
    """Decoder in the compiled engine, for the instruction set that its layers were loaded for."""

    def __init__(self, parts: Decoder):
        """Compile a description.  Raises InputError if its layers were loaded for PyTorch's products."""
        if parts.embedding.coded.compiled is None:
            raise InputError(
                "the compiled decoder needs an instruction set, found 'portable'; load the model for one"
            )
        self._module = parts.embedding.coded.module
        self.positions = None if parts.positions is None else len(parts.positions)
        self.vocabulary = parts.embedding.coded.shape[0]
        self.has_window = any(layer.attention.window for layer in parts.layers)
        output = self._map(parts.output)
        if parts.output_bias is not None:
            output = (output[0], array(parts.output_bias), *output[2:])
        self._decoder = self._module.Decoder(
            {
                "d": parts.embedding.coded.shape[1],
                "norm_first": parts.norm_first,
                "centred": parts.centred,
                "epsilon": parts.epsilon,
                "embedding": parts.embedding.coded.compiled,
                "factor": parts.embedding.factor * parts.embedding_factor,
                "positions": _numbers(parts.positions),
                "frequencies": _numbers(parts.frequencies),
                "rotary_factor": parts.rotary_factor,
                "embedding_norm": _norm(parts.embedding_norm),
                "last_norm": _norm(parts.last_norm),
                "output_factor": parts.output_factor,
                "output": output,
                "layers": [self._layer(layer) for layer in parts.layers],
            }
        )

    def write(self, rows: int, expected: int) -> "Writing":
        """Begin `rows` texts; expected: their tokens in total, for which memory is reserved."""
        return Writing(self._module.Writing(self._decoder, rows, expected))

    def _layer(self, layer: Layer) -> dict[str, Any]:
        return {
            "self": self._attention(layer.attention),
            "cross": self._attention(layer.cross_attention),
            "norm": _norm(layer.norm),
            **{name: self._map(getattr(layer, name)) for name in ("inner", "gate", "outer")},
        }

    def _attention(self, block: Attention | None) -> dict[str, Any] | None:
        if block is None:
            return None
        return {
            "norm": _norm(block.norm),
            "heads": block.heads,
            "size": block.size,
            "group": block.group,
            "scale": block.scale,
            "maps": [self._map(one) for one in block.maps] if block.heads else [],
            "out": self._map(block.out),
            "distances": _numbers(block.distances),
            "query_norm": _norm(block.query_norm),
            "key_norm": _norm(block.key_norm),
            "window": block.window or 0,
        }

    def _map(self, module: nn.Module | None) -> tuple[Any, ...] | None:
        """Return weight, bias, scale of the inputs (0: each row's own) and activation."""
        if module is None:
            return None
        kinds, bias = self._module.Activation, _numbers(module.bias)
        if not isinstance(module, Int8Linear):  # has no weights
            return None, bias, 0.0, kinds.none
        return module.coded.compiled, bias, module.scale or 0.0, getattr(kinds, module.activation)


class Writing:
    """Texts that are being written, in rows.  Threads may write different ones with the same decoder."""

    def __init__(self, compiled: Any):
        self._compiled = compiled

    def read(self, states: Tensor, lengths: Sequence[int]) -> None:
        """Let row i attend to the encoder's states of text i; states: float32 (Σ lengths, width), text by text."""
        self._compiled.read(array(states), list(lengths))

    def add(self, tokens: Tensor, counts: Sequence[int]) -> Tensor:
        """Add counts[i] tokens to row i; tokens: (Σ counts,).  Returns logits after the last of each, (rows, n)."""
        return torch.from_numpy(self._compiled.add(array(tokens), list(counts)))

    def select(self, rows: Tensor) -> None:
        """Make row i a copy of row rows[i]."""
        self._compiled.select(rows.tolist())


def _numbers(tensor: Tensor | None) -> Any:
    return None if tensor is None else array(tensor)


def _norm(norm: nn.Module | None) -> tuple[Any, Any] | None:
    return None if norm is None else (array(norm.weight), _numbers(getattr(norm, "bias", None)))
