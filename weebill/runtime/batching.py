"""How many sentences to translate together: as many as share the fixed costs, as few as keep the shortlist short.

A step of the decoder on n rows costs as much as n + SHARED of them would alone, for its weights are read once for
all.  More sentences bring more columns of the output layer, which every row is multiplied by and which are
gathered once for a batch.  Long sentences have more of both, so that the best number depends on their length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weebill.experiment.shapes import Architecture
from weebill.runtime.shortlist import Shortlist
from weebill.translation.search.batching import length_sorted_batches

SIZES = (8, 12, 16, 24, 32, 48, 64, 96, 128)
SEGMENT = 512  # sentences of like length that are cut into batches of one size
# Fitted to int8 on AVX512-VNNI; sizes near the best differ by few per cent.
SHARED = 2  # rows whose work a step's fixed cost equals
GATHER = 25  # rows whose products with a column cost as much as gathering it


@dataclass(frozen=True)
class DecoderCost:
    """In multiplications.  row: of a step of one row, all layers; column: of one column and row."""

    row: int
    column: int

    @classmethod
    def of(cls, architecture: Architecture) -> "DecoderCost":
        """The costs of an architecture, but for the attention over the source, which no batch changes."""
        width, layers = architecture.embedding, architecture.decoder
        recurrent = architecture.decoder_kind == "ssru"
        each = [
            (2 * width**2 if recurrent else 4 * width * layer.self_heads * layer.head_size)
            + 2 * width * layer.heads * layer.head_size
            + 2 * width * layer.feed_forward
            for layer in layers
        ]
        return cls(sum(each) * architecture.decoder_depth // len(layers), width)


def best_batches(
    sources: Sequence[Sequence[int]],
    decoder: DecoderCost,
    shortlist: Shortlist | None,
    most_pieces: int,
) -> list[list[int]]:
    """Indices of non-empty sources (pieces, EOS last) in batches of at most `most_pieces` with padding.

    Longest first; the size of batches follows from lengths and, where there is one, the shortlist.
    """
    lengths = [len(source) - 1 for source in sources]
    [order] = length_sorted_batches(lengths, len(lengths), most_pieces * len(lengths)) or [[]]
    cut = []
    for begin in range(0, len(order), SEGMENT):
        segment = order[begin : begin + SEGMENT]
        size = best_size([sources[index] for index in segment], decoder, shortlist)
        like = [lengths[index] for index in segment]
        for batch in length_sorted_batches(like, size, most_pieces):
            cut.append([segment[place] for place in batch])
    return cut


def best_size(
    sources: Sequence[Sequence[int]], decoder: DecoderCost, shortlist: Shortlist | None
) -> int:
    """The size of batch that costs least a piece, judged by sources from the middle of these, longest first."""
    first = max(0, (len(sources) - SIZES[-1]) // 2)
    sample = sources[first : first + SIZES[-1]]
    steps = np.cumsum([len(source) for source in sample])  # of all rows, were translations as long
    columns = _columns(sample, shortlist)
    cost = (steps + SHARED * len(sample[0])) * (decoder.row + decoder.column * columns)
    if shortlist is not None:
        cost = cost + GATHER * decoder.column * columns
    sizes = [size for size in SIZES if size <= len(sample)] or [len(sample)]
    return min(sizes, key=lambda size: cost[size - 1] / steps[size - 1])


def _columns(sources: Sequence[Sequence[int]], shortlist: Shortlist | None) -> np.ndarray:
    """The columns of the first one, two, three … sources together; 0 where all pieces are."""
    if shortlist is None:
        return np.zeros(len(sources), dtype=np.int64)
    chosen = np.zeros(len(shortlist.candidates) + 1, dtype=bool)  # as in Shortlist.columns
    chosen[shortlist.frequent] = True
    counts = []
    for source in sources:
        chosen[shortlist.candidates[list(source)].ravel()] = True
        counts.append(np.count_nonzero(chosen[:-1]))
    return np.array(counts, dtype=np.int64)
