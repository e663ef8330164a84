"""Students with a vocabulary, for the tests of the exports."""

import torch

from tests.runtime.conftest import network
from weebill.translation.model.network import Translator
from weebill.translation.search import SearchOptions

PIECES = 60  # of `small_models.make_vocabulary`
EVEN = {"inner": (80, 80, 80)}  # as wide as the decoder's
SHAPES = {
    "ssru": EVEN,
    "ssru, untied": {**EVEN, "tied": False},
    "attention": {**EVEN, "kind": "attention"},
    "attention, untied": {**EVEN, "kind": "attention", "tied": False},
}
UNEVEN = {
    "ssru, pruned": {"heads": (4, 0, 1), "inner": (96, 20, 0)},
    "ssru, narrow attention": {"head": 8},
    "ssru, no memory": {"cross": 0},
    "attention, pruned": {"kind": "attention", "heads": (0, 2, 1), "own": 2, "tied": False},
}
OPTIONS = SearchOptions(length_factor=0.0, length_constant=20, allow_unknown=True)


def student(name: str) -> Translator:
    """Return the random network of that name.

    Its output depends on positions: small embeddings leave room for them, and mixed signs in its last norm
    keep the next piece from resembling the one before, through the tied embeddings.
    """
    model = network(**{**SHAPES, **UNEVEN}[name], pieces=PIECES)
    model.embedding.weight.data.div_(6)
    model.output.bias.data.div_(6)
    model.decoder[-1].feed_forward_norm.weight.data.normal_()
    model.decoder[-1].feed_forward_norm.bias.data.zero_()
    return model


def texts(count: int = 20) -> list[list[int]]:
    """Return sentences of 1 to 30 pieces, their end last."""
    draw = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, 30, (count,), generator=draw).tolist()
    return [[*torch.randint(2, PIECES, (n,), generator=draw).tolist(), 0] for n in lengths]
