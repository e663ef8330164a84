"""Small students of the kinds that Firefox uses."""

from functools import partial

import numpy as np
import torch

from tests.runtime.conftest import network, quantized
from tests.runtime.exports.students import dependent_on_positions, texts
from weebill.runtime.exports.marian.firefox import export
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

PIECES, SOURCE_PIECES = 64, 66
STUDENTS = {
    "ssru": {},
    "ssru, untied": {"tied": False},
    "ssru, pruned": {"heads": (4, 0, 1), "inner": (96, 20, 0)},
    "ssru, two vocabularies": {"tied": False, "source_pieces": SOURCE_PIECES},
    "attention": {"kind": "attention", "tied": False},
}
MODEL = "model.ende.intgemm.alphas.bin"
# The engine's limit: twice the source with its end, plus the translation's end.
OPTIONS = SearchOptions(length_factor=2.0, length_constant=3)
write = partial(export, pad=True, languages=("en", "de"))


def student(name):
    """Return the random int8 student of that name; its output depends on positions.

    One number of each weight is much larger than the others, and its neighbours are zeros: on processors without
    VNNI, the engine adds two products in 16 bits, and such small integers never overflow.
    """
    model = dependent_on_positions(network(**STUDENTS[name], pieces=PIECES))
    for module in model.modules():
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding) and module.weight.numel():
            weight = module.weight.data
            weight[-1] = 0
            weight[-1, 0] = 2.2 * weight.abs().max()
    return quantized(model, "int8", texts=texts(9))


def vocabulary_of(name, vocabularies):
    return vocabularies["two" if "two" in name else "one"]


def shortlist_of(vocabulary, rows):
    """Return a random shortlist; one piece has fewer candidates than the others."""
    draw = np.random.default_rng(1)
    candidates = draw.integers(2, PIECES, (rows, 2), dtype=np.int32)
    candidates[5, 1:] = -1
    target = PIECES if rows != PIECES else None
    return Shortlist(candidates, np.array([0, 7, 9], np.int32), vocabulary.sha256, target)
