"""Tensors of an int8 student as Firefox's engines read them: integers, multipliers and activation scales.

Engines prepare weights, and biases for their shifted products, when they load a model; both are stored as they are.
"""

from dataclasses import replace

import numpy as np
from torch import nn

from weebill.errors import InputError
from weebill.quantization.grids.int8 import INT8_LIMIT
from weebill.quantization.modules import QuantizedEmbedding, QuantizedLinear
from weebill.runtime.exports.marian import configuration
from weebill.runtime.exports.marian.binary import SCALES, TABLE, Codes
from weebill.runtime.exports.marian.student import Student
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture

# The engines' 8-bit products need multiples of these sizes: in the inner dimension, and in the output.
INNER, OUTER = 64, 8
LAYERS = nn.Linear | nn.Embedding | QuantizedLinear | QuantizedEmbedding


def check_grid(network: Translator) -> None:
    """Raise InputError unless all weights and the inputs of linear maps are on the grid int8."""
    for name, module in network.named_modules():
        found = _other_grid(module) if isinstance(module, LAYERS) else None
        if found:
            raise InputError(
                f"Firefox's students are int8, with one scale a matrix and one for its inputs, and {name} of this "
                f"student is {found}; quantize it by `quantization: {{int8: {{}}}}`, and export that"
            )


def _other_grid(module: nn.Module) -> str | None:
    """Return the name of a layer's grid if it is not int8."""
    if isinstance(module, nn.Linear | nn.Embedding):
        return "float32" if module.weight.numel() else None  # no heads or neurons are left
    grid = module.quantized.grid.name
    if grid == "int8" and isinstance(module, QuantizedLinear) and module.activation_scale is None:
        return "int8 with float32 inputs"
    return None if grid == "int8" else grid


def even_shape(network: Architecture, pad: bool) -> Architecture:
    """Return the shape of the exported student.

    pad: allow it to be larger than the student's.  Raises InputError if engines cannot hold it.
    """
    for what, size, factor in (
        ("an embedding width", network.embedding, INNER),
        ("a number of pieces", network.vocabulary, OUTER),
    ):
        if size % factor:
            wanted = f"wants {what} that is a multiple of {factor}"
            raise InputError(
                f"Firefox's engine {wanted}, and this student's is {size}; train another"
            )
    shape = configuration.even_shape(network, pad)
    found = shape.encoder[0].feed_forward
    neurons = -(-found // INNER) * INNER
    if neurons != found and not pad:
        raise InputError(
            f"Firefox's engine wants a multiple of {INNER} neurons in every layer, and this student has {found}; "
            "--pad fills them up with zeros, which translates alike"
        )
    sides = {"encoder": shape.encoder, "decoder": shape.decoder}
    layers = {
        side: tuple(replace(layer, feed_forward=neurons) for layer in found)
        for side, found in sides.items()
    }
    return replace(shape, **layers)


def student_of(network: Translator, shape: Architecture) -> Student:
    """Return the tensors and scales of a network, filled up with zeros to a shape."""
    found: dict[str, np.ndarray | Codes] = {}
    for place in configuration.places(shape):
        name, attribute = place.weebill.rsplit(".", 1)
        module = network.get_submodule(name)
        if place.layout == "row":
            found[place.weebill] = place.filled(getattr(module, attribute).detach().numpy())
        elif isinstance(module, nn.Linear):  # nothing is left of it
            found[place.weebill] = Codes(np.zeros(place.weebill_shape, np.int8), 1.0)
        else:
            weight = module.quantized
            integers = place.filled(weight.integers().numpy())
            found[place.weebill] = Codes(integers, float(weight.scale))
    scales = {
        # With nothing left of a map, its scale has no effect.
        name: float(getattr(network.get_submodule(name), "activation_scale", 1.0))
        for _, name in configuration.linear_maps(shape)
    }
    return Student(shape, found, scales)


def stored_tensors(student: Student) -> dict[str, np.ndarray | Codes]:
    """Return the tensors of a file, in the order of Marian's converter: that of their names."""
    found: dict[str, np.ndarray | Codes] = {}
    for place in configuration.places(student.shape):
        tensor = student.tensors[place.weebill]
        if isinstance(tensor, Codes):
            found[place.marian] = Codes(place.to_marian(tensor.integers), tensor.multiplier)
        else:
            found[place.marian] = place.to_marian(tensor)
    for theirs, ours in configuration.linear_maps(student.shape):
        found[theirs + SCALES] = _stored_scale(theirs, student.scales[ours])
    return dict(sorted(found.items()))


def _stored_scale(name: str, scale: float) -> np.ndarray | Codes:
    """Return an activation scale as Marian's converter stores it, which takes scales of tables for tables."""
    if TABLE in name:
        return Codes(np.full((1, 1), INT8_LIMIT, np.int8), INT8_LIMIT / scale)
    return np.full((1, 1), scale, np.float32)
