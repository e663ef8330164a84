"""Configuration inside Marian's model files, from our architecture and back, and the names of its tensors.

Marian numbers layers from 1, stores weights as (in, out), biases as (1, out), and layers that share weights once.
Its options describe one shape for all layers, whose heads together have the embedding width.  So pruned students are
padded with neurons and heads of zeros, which add nothing to any sum, but cost as much as in the unpruned student.
"""

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from weebill import __version__
from weebill.errors import InputError
from weebill_runtime.architecture import RANGES, Architecture, LayerShape

# Options in three sets: `ours` make Marian's `transformer` our network, `default` are required by older versions, and
# `newer` change the network in newer versions; a file without these has the values here.
with Path(__file__).with_name("options.tsv").open(encoding="utf-8") as file:
    TABLE = list(csv.DictReader(file, delimiter="\t"))
OURS, DEFAULTS, NEWER = (
    {row["option"]: yaml.safe_load(row["value"]) for row in TABLE if row["set"] == name}
    for name in ("ours", "default", "newer")
)
# Two vocabularies: the target's embeddings are the output layer, the source has its own.
TWO = {"tied-embeddings-all": False, "tied-embeddings": True}
# Largest sizes, which a damaged file exceeds: its layers would fill the memory.
MOST = {
    "dim-emb": RANGES["embedding"][1],
    "enc-depth": RANGES["decoder_depth"][1],
    "dec-depth": RANGES["decoder_depth"][1],
    "transformer-heads": RANGES["heads"][1],
    "transformer-dim-ffn": RANGES["feed_forward"][1],
}
AUTOREGRESSION = {"ssru": "rnn", "attention": "self-attention"}


def even_shape(shape: Architecture, pad: bool) -> Architecture:
    """Return the even shape that holds a student; pad: allow it to be larger.  Raises InputError if there is none."""
    layers = [*shape.encoder, *shape.decoder]
    sizes = {layer.head_size for layer in layers}
    size, remainder = max(sizes), shape.embedding % max(sizes)
    if len(sizes) > 1 or remainder:
        wanted = f"heads of one size that divides the embedding width {shape.embedding}"
        found = ", ".join(map(str, sorted(sizes)))
        raise InputError(f"Marian wants {wanted}; this student's heads have {found}")
    heads, inner = shape.embedding // size, max(1, *(layer.feed_forward for layer in layers))
    if (most := max(max(layer.heads, layer.self_heads) for layer in layers)) > heads:
        raise InputError(
            f"Marian's heads have the embedding width {shape.embedding} together, and this student has a layer of "
            f"{most} heads of {size}; export it to ONNX"
        )
    own = heads if shape.decoder_kind == "attention" else 0
    encoder, decoder = LayerShape(heads, size, inner), LayerShape(heads, size, inner, own)
    layers = {
        "encoder": (encoder,) * len(shape.encoder),
        "decoder": (decoder,) * len(shape.decoder),
    }
    even = replace(shape, **layers)
    if even != shape and not pad:
        raise InputError(
            f"Marian wants {heads} heads of {size} and as many neurons in every layer, and this student is "
            "pruned or of another attention width; --pad fills it up with zeros, which translates alike, at "
            "the speed of the unpruned student"
        )
    return even


def from_architecture(shape: Architecture) -> dict[str, Any]:
    """Return Marian's model options for a student of even shape."""
    layer, tied = shape.encoder[0], len(shape.decoder) < shape.decoder_depth
    return {
        **OURS,
        **DEFAULTS,
        **(TWO if shape.source_vocabulary else {}),
        "dec-cell": "ssru" if shape.decoder_kind == "ssru" else "gru",
        "dec-depth": shape.decoder_depth,
        "dim-emb": shape.embedding,
        "dim-vocabs": [shape.source_pieces, shape.vocabulary],
        "enc-depth": len(shape.encoder),
        "transformer-decoder-autoreg": AUTOREGRESSION[shape.decoder_kind],
        "transformer-dim-ffn": layer.feed_forward,
        "transformer-heads": layer.heads,
        "transformer-tied-layers": [1] * shape.decoder_depth if tied else [],
        "version": f"weebill {__version__}",
    }


def to_architecture(options: Mapping[str, Any], origin: str) -> Architecture:
    """Return the architecture of a model.  Raises InputError with a line for each option that our networks lack."""
    kinds = {theirs: ours for ours, theirs in AUTOREGRESSION.items()}
    depth = options.get("dec-depth")
    depth = depth if _positive(depth, MOST["dec-depth"]) else 0
    tied = options.get("transformer-tied-layers") or []
    two = options.get("tied-embeddings-all") is False
    allowed = {
        **{name: [value] for name, value in OURS.items()},
        **({name: [value] for name, value in TWO.items()} if two else {}),
        **({"tied-embeddings-src": [False, None]} if two else {}),
        **{name: [value, None] for name, value in NEWER.items()},
        "transformer-postprocess-emb": ["d", ""],
        "transformer-decoder-autoreg": list(kinds),
    }
    if options.get("transformer-decoder-autoreg") == "rnn":
        allowed["dec-cell"] = ["ssru"]
    faults = [
        f"{name} is {options.get(name)!r}, Weebill's students have {values[0]!r}"
        for name, values in allowed.items()
        if options.get(name) not in values
    ]
    for name, most in MOST.items():
        if not _positive(value := options.get(name), most):
            faults.append(f"{name} is {value!r}, expected a whole number from 1 to {most:,}")
    sizes = options.get("dim-vocabs")
    pair = isinstance(sizes, list) and len(sizes) == 2
    if not (pair and all(map(_positive, sizes)) and (two or sizes[0] == sizes[1])):
        expected = "two sizes" if two else "the same size twice, as tied-embeddings-all is true"
        faults.append(f"dim-vocabs is {sizes!r}, expected {expected}")
    if tied not in ([], [1] * depth, list(range(1, depth + 1))):
        remark = "Weebill ties all layers of a decoder or none"
        faults.append(f"transformer-tied-layers is {tied!r}; {remark}")
    if faults:
        raise InputError("\n".join(f"{origin}: {fault}" for fault in faults))
    heads, width = options["transformer-heads"], options["dim-emb"]
    if width % heads:
        raise InputError(f"{origin}: dim-emb {width} is no multiple of transformer-heads {heads}")
    kind = kinds[options["transformer-decoder-autoreg"]]
    sizes_of_layer = (heads, width // heads, options["transformer-dim-ffn"])
    decoder = LayerShape(*sizes_of_layer, heads if kind == "attention" else 0)
    one = depth > 1 and tied == [1] * depth
    return Architecture(
        vocabulary=sizes[1],
        source_vocabulary=sizes[0] if two else None,
        embedding=width,
        encoder=(LayerShape(*sizes_of_layer),) * options["enc-depth"],
        decoder=(decoder,) * (1 if one else depth),
        decoder_depth=depth,
        decoder_kind=kind,
    )


def _positive(value: Any, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


@dataclass(frozen=True)
class Place:
    """Tensor of a model file.  shape: Marian's.  layout: a matrix is ours transposed, a row is our vector."""

    marian: str
    weebill: str
    shape: tuple[int, int]
    layout: Literal["table", "matrix", "row"]

    @property
    def weebill_shape(self) -> tuple[int, ...]:
        """Shape of our tensor."""
        return {"table": self.shape, "matrix": self.shape[::-1], "row": self.shape[1:]}[self.layout]

    def filled(self, array: np.ndarray) -> np.ndarray:
        """Return our array of a pruned student, filled up with zeros to this shape."""
        sizes = zip(array.shape, self.weebill_shape, strict=True)
        return np.pad(array, [(0, after - now) for now, after in sizes])

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
    name = "Wemb"
    if shape.source_vocabulary is not None:
        own = (shape.source_vocabulary, width)
        yield Place("encoder_Wemb", "source_embedding.weight", own, "table")
        name = "decoder_Wemb"
    yield Place(name, "embedding.weight", (shape.vocabulary, width), "table")
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


def linear_maps(shape: Architecture) -> Iterator[tuple[str, str]]:
    """Yield Marian's matrix of each linear map, whose name also names the activation scale, and our map's name.

    The output layer multiplies by the table of the target's embeddings.  If a shortlist chose columns of a table that
    both languages share, engines look for the scale under the name of a matrix without a name, "none".
    """
    for place in places(shape):
        if place.layout == "matrix":
            yield place.marian, place.weebill.removesuffix(".weight")
    names = ("Wemb", "none") if shape.source_vocabulary is None else ("decoder_Wemb",)
    yield from ((name, "output") for name in names)


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
