"""Students with a vocabulary, for the tests of exports."""

import numpy as np
import torch

from tests.runtime.conftest import network
from weebill.translation.model.network import Translator
from weebill_runtime.options import SearchOptions

PIECES = 60  # as in `small_models.make_vocabulary`
SOURCE_PIECES = 66  # size of a separate source vocabulary
EVEN = {"inner": (80, 80, 80)}  # the decoder's width
SHAPES = {
    "ssru": EVEN,
    "ssru, untied": {**EVEN, "tied": False},
    "attention": {**EVEN, "kind": "attention"},
    "attention, untied": {**EVEN, "kind": "attention", "tied": False},
}
TWO_VOCABULARIES = {
    "ssru, two vocabularies": {**EVEN, "source_pieces": SOURCE_PIECES},
    "attention, two vocabularies": {
        **EVEN,
        "kind": "attention",
        "tied": False,
        "source_pieces": SOURCE_PIECES,
    },
}
UNEVEN = {
    "ssru, pruned": {"heads": (4, 0, 1), "inner": (96, 20, 0)},
    "ssru, narrow attention": {"head": 8},
    "ssru, no memory": {"cross": 0},
    "attention, pruned": {"kind": "attention", "heads": (0, 2, 1), "own": 2, "tied": False},
}
OPTIONS = SearchOptions(length_factor=0.0, length_constant=20, allow_unknown=True)


def student(name: str) -> Translator:
    """Return the random network of that name; its output depends on positions."""
    model = network(**{**SHAPES, **UNEVEN, **TWO_VOCABULARIES}[name], pieces=PIECES)
    return dependent_on_positions(model)


def dependent_on_positions(model: Translator) -> Translator:
    """Change a random network in place so that its output depends on positions, and return it.

    Small embeddings make positions count, and mixed signs in the last norm prevent that, through tied embeddings,
    each piece resembles the previous one.
    """
    for table in (model.embedding, model.source_embedding):
        if table is not None:
            table.weight.data.div_(6)
    model.output.bias.data.div_(6)
    model.decoder[-1].feed_forward_norm.weight.data.normal_()
    model.decoder[-1].feed_forward_norm.bias.data.zero_()
    return model


def texts(count: int = 20) -> list[list[int]]:
    """Return sentences of 1 to 30 pieces, counting the end."""
    draw = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, 30, (count,), generator=draw).tolist()
    return [[*torch.randint(2, PIECES, (n,), generator=draw).tolist(), 0] for n in lengths]


def onnx_greedy(student, sources, limit: int, unknown: bool = False) -> list[list[int]]:
    """Translate with an exported student as users do; outputs lack the end and have at most limit − 1 pieces."""
    longest = max(map(len, sources))
    source = np.zeros((len(sources), longest), np.int64)
    mask = np.zeros(source.shape, bool)
    for row, pieces in enumerate(sources):
        source[row, : len(pieces)], mask[row, : len(pieces)] = pieces, True
    inputs, found = student.start(source, mask), [[] for _ in sources]
    live = np.ones(len(sources), bool)
    for _ in range(limit - 1):
        logits, inputs = student.step(inputs)
        if not unknown:
            logits[:, student.description["unknown"]] = -np.inf
        inputs["previous"] = logits.argmax(-1)
        live &= inputs["previous"] != student.description["end"]
        if not live.any():
            break
        for row in np.flatnonzero(live):
            found[row].append(int(inputs["previous"][row]))
    return found
