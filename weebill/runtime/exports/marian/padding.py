"""Padding of unevenly pruned students to one shape, the only kind that Marian's options describe.

Marian checks every tensor against its options: one width for all feed-forward layers, one number of heads, and
heads that together have the embedding width.  A neuron or head of zeros adds nothing to any sum, so the padded
student translates as the uneven one does, at the cost of the unpruned.
"""

from dataclasses import replace

import numpy as np

from weebill.errors import InputError
from weebill.experiment.shapes import Architecture, LayerShape


def even_shape(shape: Architecture, pad: bool) -> Architecture:
    """Return the even shape that holds a student; pad: allow it to be larger.

    Raises InputError where the student is uneven and may not be padded, or no number of its heads gives the
    embedding width.
    """
    layers = [*shape.encoder, *shape.decoder]
    sizes = {layer.head_size for layer in layers}
    size, remainder = max(sizes), shape.embedding % max(sizes)
    if len(sizes) > 1 or remainder:
        raise InputError(
            f"Marian wants heads of one size that divides the embedding width {shape.embedding}; this "
            f"student's heads have {', '.join(map(str, sorted(sizes)))}"
        )
    heads, inner = shape.embedding // size, max(1, *(layer.feed_forward for layer in layers))
    own = heads if shape.decoder_kind == "attention" else 0
    encoder, decoder = LayerShape(heads, size, inner), LayerShape(heads, size, inner, own)
    even = replace(
        shape,
        encoder=(encoder,) * len(shape.encoder),
        decoder=(decoder,) * len(shape.decoder),
    )
    if even != shape and not pad:
        raise InputError(
            f"Marian wants {heads} heads of {size} and as many neurons in every layer, and this student is "
            "pruned or of another attention width; --pad fills it up with zeros, which translates alike, at "
            "the speed of the unpruned student"
        )
    return even


def padded(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Pad an array with zeros at the end of each dimension."""
    return np.pad(array, [(0, after - now) for now, after in zip(array.shape, shape, strict=True)])
