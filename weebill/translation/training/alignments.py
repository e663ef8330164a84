"""Alignments by the guided head: the source piece that a student attends to when it writes each target piece.

Firefox uses this head, the first of the last cross-attention (`training.loss`), to place the tags of a page.
"""

from collections.abc import Sequence

import numpy as np
import sentencepiece
import torch

from weebill.translation.model.batch import make_batch
from weebill.translation.model.network import Translator
from weebill.translation.training.loss import guided_attention
from weebill_runtime.names import SIDES
from weebill_runtime.vocabulary import AnyVocabulary, Vocabulary

SENTENCES = 64  # per batch
Pieces = Sequence[int]  # of a sentence, EOS last
Span = tuple[int, int]


def alignments(
    network: Translator, sources: Sequence[Pieces], targets: Sequence[Pieces]
) -> list[list[int]]:
    """Return for each pair the source position that each target piece except EOS attends to most."""
    order = sorted(range(len(sources)), key=lambda i: (len(sources[i]), len(targets[i])))
    found: list[list[int]] = [[]] * len(sources)
    network.eval()
    for first in range(0, len(order), SENTENCES):
        rows = order[first : first + SENTENCES]
        batch = make_batch([sources[row] for row in rows], [targets[row] for row in rows])
        with torch.inference_mode(), guided_attention(network) as seen:
            memory = network.encode(batch.source, batch.source_mask)
            network.decode(batch.decoder_input, memory, batch.source_mask)
        places = seen[0].argmax(-1).tolist()  # (b, t)
        for row, own in zip(rows, places, strict=True):
            found[row] = own[: len(targets[row]) - 1]
    return found


class Spans:
    """Places of a vocabulary's pieces in the text of a sentence, to compare pieces of different vocabularies."""

    def __init__(self, vocabulary: Vocabulary):
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(vocabulary.path))

    def of(self, text: str) -> list[Span]:
        """Return the place of each piece's first character in a text, and the place after its last.

        All byte pieces of a character except the last are empty, and so is a blank that the text does not have.
        """
        return self._pieces.encode(text, return_type="offset_mapping")["offsets"]


def owners(spans: Sequence[Span], others: Sequence[Span]) -> list[int]:
    """Return for each span the index of that of `others`, of the same text, with its last place, or the next."""
    ends = np.array([end for _, end in others])
    places = np.array([max(begin, end - 1) for begin, end in spans], dtype=np.int64)
    return np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1).tolist()


def moved(
    links: Sequence[int],
    source: tuple[Sequence[Span], Sequence[Span]],
    target: tuple[Sequence[Span], Sequence[Span]],
) -> list[int]:
    """Return the alignment of a pair for other pieces of the same text.

    links: from `alignments`.  source, target: spans of the present pieces, and of the other ones.
    """
    sources = [*owners(*source), len(source[1])]  # EOS last
    return [sources[links[number]] for number in owners(target[1], target[0])]


class Moved:
    """Conversion of alignments from one vocabulary's pieces to another's; equal vocabularies change nothing."""

    def __init__(self, before: AnyVocabulary, after: AnyVocabulary):
        self._spans = None
        if before.sha256 != after.sha256:
            self._spans = [
                tuple(Spans(getattr(one, side)) for one in (before, after)) for side in SIDES
            ]

    def __call__(self, links: list[int], pair: Sequence[str]) -> list[int]:
        """Return the alignment of a source and a target."""
        if self._spans is None:
            return links
        sides = zip(self._spans, pair, strict=True)
        return moved(links, *((one.of(text), other.of(text)) for (one, other), text in sides))
