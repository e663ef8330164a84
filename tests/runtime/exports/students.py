"""Students with a vocabulary, for the tests of exports."""

from collections.abc import Iterator

import ctranslate2
import numpy as np
import torch

from tests.runtime.conftest import network
from tests.small_models import TEXT
from weebill.translation.model.network import Translator
from weebill.translation.search import greedy
from weebill_runtime.options import SearchOptions
from weebill_runtime.vocabulary import EOS

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


def ctranslate2_greedy(folder, vocabulary) -> list[list[int]]:
    """Return CTranslate2's translations of the texts, in pieces."""
    names, targets = vocabulary.source.pieces, vocabulary.target.pieces
    engine = ctranslate2.Translator(str(folder), "cpu", compute_type="float32")
    found = engine.translate_batch(
        [[names[piece] for piece in source[:-1]] for source in texts()],
        beam_size=1,
        max_decoding_length=19,
        disable_unk=False,
    )
    return [[targets.index(piece) for piece in one.hypotheses[0]] for one in found]


def greedy_by_shortlist(model, vocabulary, shortlist, options) -> Iterator[str]:
    """Yield the translations of TEXT among the pieces that Marian's engine takes from a shortlist.

    It adds the source's pieces, if both sides share pieces, and others up to a multiple of eight.
    """
    bias, shared = model.output.bias.data.clone(), model.architecture.source_vocabulary is None
    for source in vocabulary.source.encode(TEXT):
        columns = {*shortlist.columns(source).tolist(), *(source if shared else [])}
        others = (piece for piece in range(2, len(bias)) if piece not in columns)
        columns.update(next(others) for _ in range(-len(columns) % 8))
        absent = [piece for piece in range(len(bias)) if piece not in columns]
        assert EOS in columns and absent
        model.output.bias.data.copy_(bias)
        model.output.bias.data[absent] = -1e4
        yield from vocabulary.target.decode(greedy([model], [source], options))


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
