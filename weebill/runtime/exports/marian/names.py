"""Names and layouts of Marian's tensors and of ours.

Marian numbers layers from 1 and stores weights as (in, out), biases as (1, out).  Where the decoder's layers share
their weights it stores one layer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weebill.experiment.shapes import Architecture, LayerShape


@dataclass(frozen=True)
class Place:
    """Tensor of a model file.  shape: Marian's.  layout: matrices are ours transposed, rows our vectors."""

    marian: str
    weebill: str
    shape: tuple[int, int]
    layout: Literal["table", "matrix", "row"]

    @property
    def weebill_shape(self) -> tuple[int, ...]:
        """Shape of our tensor."""
        return {"table": self.shape, "matrix": self.shape[::-1], "row": self.shape[1:]}[self.layout]

    def to_marian(self, array: np.ndarray) -> np.ndarray:
        """Convert our array to Marian's layout."""
        turned = array.T if self.layout == "matrix" else array
        return np.ascontiguousarray(turned).reshape(self.shape)

    def to_weebill(self, array: np.ndarray) -> np.ndarray:
        """Convert Marian's array to our layout."""
        turned = array.T if self.layout == "matrix" else array
        return np.ascontiguousarray(turned).reshape(self.weebill_shape)


def places(shape: Architecture) -> Iterator[Place]:
    """Yield all tensors of a model of this shape, in Marian's order of use."""
    width = shape.embedding
    yield Place("Wemb", "embedding.weight", (shape.vocabulary, width), "table")
    for number, layer in enumerate(shape.encoder):
        theirs, ours = f"encoder_l{number + 1}", f"encoder.{number}"
        yield from _attention(f"{theirs}_self", f"{ours}.self_attention", width, layer.heads, layer)
        yield from _norm(f"{theirs}_self_Wo", f"{ours}.attention_norm", width)
        yield from _feed_forward(f"{theirs}_ffn", ours, width, layer)
    for number, layer in enumerate(shape.decoder):
        theirs, ours = f"decoder_l{number + 1}", f"decoder.{number}"
        if shape.decoder_kind == "ssru":
            rnn, unit = f"{theirs}_rnn", f"{ours}.recurrence"
            yield Place(f"{rnn}_W", f"{unit}.candidate.weight", (width, width), "matrix")
            yield from _linear(f"{rnn}_Wf", f"{rnn}_bf", f"{unit}.forget", width, width)
            yield from _norm(f"{rnn}_ffn", f"{ours}.self_norm", width)
        else:
            own = f"{ours}.self_attention"
            yield from _attention(f"{theirs}_self", own, width, layer.self_heads, layer)
            yield from _norm(f"{theirs}_self_Wo", f"{ours}.self_norm", width)
        cross = f"{ours}.cross_attention"
        yield from _attention(f"{theirs}_context", cross, width, layer.heads, layer)
        yield from _norm(f"{theirs}_context_Wo", f"{ours}.cross_norm", width)
        yield from _feed_forward(f"{theirs}_ffn", ours, width, layer)
    yield Place("decoder_ff_logit_out_b", "output.bias", (1, shape.vocabulary), "row")


def _attention(
    theirs: str, ours: str, width: int, heads: int, layer: LayerShape
) -> Iterator[Place]:
    inner = heads * layer.head_size
    for letter, name in (("q", "query"), ("k", "key"), ("v", "value")):
        yield from _linear(f"{theirs}_W{letter}", f"{theirs}_b{letter}", f"{ours}.{name}", width, inner)  # fmt: skip
    yield from _linear(f"{theirs}_Wo", f"{theirs}_bo", f"{ours}.out", inner, width)


def _feed_forward(theirs: str, ours: str, width: int, layer: LayerShape) -> Iterator[Place]:
    inner, block = layer.feed_forward, f"{ours}.feed_forward"
    yield from _linear(f"{theirs}_W1", f"{theirs}_b1", f"{block}.inner", width, inner)
    yield from _linear(f"{theirs}_W2", f"{theirs}_b2", f"{block}.outer", inner, width)
    yield from _norm(f"{theirs}_ffn", f"{ours}.feed_forward_norm", width)


def _linear(weight: str, bias: str, ours: str, inputs: int, outputs: int) -> Iterator[Place]:
    yield Place(weight, f"{ours}.weight", (inputs, outputs), "matrix")
    yield Place(bias, f"{ours}.bias", (1, outputs), "row")


def _norm(theirs: str, ours: str, width: int) -> Iterator[Place]:
    yield Place(f"{theirs}_ln_scale", f"{ours}.weight", (1, width), "row")
    yield Place(f"{theirs}_ln_bias", f"{ours}.bias", (1, width), "row")
