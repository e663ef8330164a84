"""Division of sentences into batches of the best sizes.

A decoder step on n rows costs as much as n + SHARED single rows without the reading of weights, which all rows share.
More sentences need more columns of the output layer, which multiply every row, and are gathered once per batch.
Long sentences have more steps and more columns, so the best size of a batch depends on their length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weebill_runtime.architecture import Architecture
from weebill_runtime.options import length_sorted_batches
from weebill_runtime.shortlist import Shortlist

Sources = Sequence[Sequence[int]]

SIZES = (8, 12, 16, 24, 32, 48, 64, 96, 128)
SEGMENT = 512  # sentences of similar length that are cut into batches of one size
# Fitted to int8 on AVX512-VNNI; sizes near the best differ by a few per cent.
SHARED = 2  # fixed cost of a step, in rows
GATHER = 25  # cost of gathering a column, in rows that are multiplied by it


@dataclass(frozen=True)
class DecoderCost:
    """Costs in multiplications; row: one row's step through all layers; column: one column and row."""

    row: int
    column: int

    @classmethod
    def of(cls, architecture: Architecture) -> "DecoderCost":
        """Count an architecture's costs, without attention over the source, which is the same in any batch."""
        width, layers = architecture.embedding, architecture.decoder
        recurrent = architecture.decoder_kind == "ssru"
        each = [
            2 * width * (layer.heads * layer.head_size + layer.feed_forward)
            + (2 * width**2 if recurrent else 4 * width * layer.self_heads * layer.head_size)
            for layer in layers
        ]
        return cls(sum(each) * architecture.decoder_depth // len(layers), width)


def best_batches(
    sources: Sources, decoder: DecoderCost, shortlist: Shortlist | None, most_pieces: int
) -> list[list[int]]:
    """Divide non-empty sources (EOS last) into batches of at most `most_pieces` with padding, longest first."""
    lengths = [len(source) - 1 for source in sources]
    [order] = length_sorted_batches(lengths, len(lengths), most_pieces * len(lengths)) or [[]]
    cut = []
    for begin in range(0, len(order), SEGMENT):
        segment = order[begin : begin + SEGMENT]
        size = best_size([sources[index] for index in segment], decoder, shortlist)
        batches = length_sorted_batches([lengths[index] for index in segment], size, most_pieces)
        cut += [[segment[place] for place in batch] for batch in batches]
    return cut


def best_size(sources: Sources, decoder: DecoderCost, shortlist: Shortlist | None) -> int:
    """Return the batch size with the least cost per piece for sources from the middle of these, longest first."""
    first = max(0, (len(sources) - SIZES[-1]) // 2)
    sample = sources[first : first + SIZES[-1]]
    steps = np.cumsum([*map(len, sample)])  # of all rows, if translations are as long as sources
    columns = _columns(sample, shortlist)
    cost = (steps + SHARED * len(sample[0])) * (decoder.row + decoder.column * columns)
    if shortlist is not None:
        cost = cost + GATHER * decoder.column * columns
    sizes = [size for size in SIZES if size <= len(sample)] or [len(sample)]
    return min(sizes, key=lambda size: cost[size - 1] / steps[size - 1])


def _columns(sources: Sources, shortlist: Shortlist | None) -> np.ndarray:
    """Count the columns of the first one, two, three … sources together; 0 if there is no shortlist."""
    if shortlist is None:
        return np.zeros(len(sources), dtype=np.int64)
    chosen = np.zeros(shortlist.targets + 1, dtype=bool)  # as in Shortlist.columns
    chosen[shortlist.frequent] = True
    counts = []
    for source in sources:
        chosen[shortlist.candidates[list(source)].ravel()] = True
        counts.append(np.count_nonzero(chosen[:-1]))
    return np.array(counts, dtype=np.int64)
