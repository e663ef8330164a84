"""Students between Marian's files and our networks, whose LayerNorms differ.

Marian adds 1e-6 to the variance, we add 1e-5.  That changes rounding to integers, and after some steps translations.
But LayerNorm of c·x with c²·ε is LayerNorm of x with ε.  So the scales of the maps and norms before a LayerNorm make
its inputs c times as large, and the maps after it undo that: all integers and products stay as they are.  Only the
first LayerNorm of encoder and decoder, and that of each application of a tied decoder, keeps Marian's ε: positions
are added to its inputs, and make their variance large.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np

from weebill.runtime.exports.marian.binary import Codes
from weebill_runtime.architecture import Architecture

OURS, MARIAN = 1e-5, 1e-6


@dataclass(frozen=True)
class Student:
    """Architecture, tensors with our names and shapes, and activation scales, if there are any, by linear map."""

    shape: Architecture
    tensors: dict[str, np.ndarray | Codes]
    scales: dict[str, float]

    def for_marian(self) -> Self:
        """Return the int8 student that computes the same with Marian's LayerNorm as this one with ours."""
        return self._scaled(sqrt(MARIAN / OURS))

    def from_marian(self) -> Self:
        """Return the int8 student that computes the same with our LayerNorm as this one with Marian's."""
        return self._scaled(sqrt(OURS / MARIAN))

    def _scaled(self, factor: float) -> Self:
        tensors, scales = dict(self.tensors), dict(self.scales)
        for name, of_inputs, of_outputs in _factors(self.shape, factor):
            weight, bias = f"{name}.weight", f"{name}.bias"
            found = tensors[weight]
            if isinstance(found, Codes):
                multiplier = float(np.float32(found.multiplier * of_inputs / of_outputs))
                tensors[weight] = Codes(found.integers, multiplier)
                scales[name] = float(np.float32(scales[name] / of_inputs))
            else:  # a norm
                tensors[weight] = (found * of_outputs).astype(np.float32)
            if bias in tensors:
                tensors[bias] = (tensors[bias] * of_outputs).astype(np.float32)
        return type(self)(self.shape, tensors, scales)


def _factors(shape: Architecture, factor: float) -> Iterator[tuple[str, float, float]]:
    """Yield maps and norms with the factors of their inputs and outputs; one of the factors is not 1."""
    for side, layers in (("encoder", shape.encoder), ("decoder", shape.decoder)):
        before = 1.0  # factor of a layer's inputs
        for number in range(len(layers)):
            layer = f"{side}.{number}"
            if side == "encoder" or shape.decoder_kind == "attention":
                own = f"{layer}.self_attention"
                yield from ((f"{own}.{part}", before, 1.0) for part in ("query", "key", "value"))
                yield f"{own}.out", 1.0, before
            else:
                yield f"{layer}.recurrence.candidate", before, before
                yield f"{layer}.recurrence.forget", before, 1.0
            if side == "encoder":
                yield f"{layer}.attention_norm", 1.0, factor
            else:
                yield f"{layer}.self_norm", 1.0, factor
                yield f"{layer}.cross_attention.query", factor, 1.0
                yield f"{layer}.cross_attention.out", 1.0, factor
                yield f"{layer}.cross_norm", 1.0, factor
            yield f"{layer}.feed_forward.inner", factor, 1.0
            yield f"{layer}.feed_forward.outer", 1.0, factor
            before = 1.0 if number == len(layers) - 1 else factor
            yield f"{layer}.feed_forward_norm", 1.0, before
