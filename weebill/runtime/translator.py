"""Translation of pieces by a network or an ensemble, in batches; results are in the order of the input.

A decoder step on n rows costs as much as n + SHARED single rows without the reading of weights, which all rows share.
More sentences need more columns of the output layer, which multiply every row, and are gathered once for a batch.
Long sentences have more steps and more columns, so the best size of a batch depends on length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from weebill.experiment.shapes import Architecture
from weebill.runtime.engines import Sources, engine_for
from weebill.runtime.shortlist import Shortlist
from weebill.translation.model.batch import pad
from weebill.translation.model.network import Translator
from weebill.translation.search import Candidate, Progress, SearchOptions
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.forced import force_decode
from weebill.translation.search.options import length_sorted_batches
from weebill.translation.search.run import search_batch

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
    steps = np.cumsum([*map(len, sample)])  # over all rows, if translations were as long
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


class Runtime:
    """Networks with equal vocabularies, averaged as an ensemble, for fast search; arguments: as in `load_runtime`."""

    def __init__(
        self,
        networks: Sequence[Translator],
        isa: str,
        shortlist: Shortlist | None = None,
        precision: str = "float32",
    ):
        self.engines = [engine_for(one, isa, precision) for one in networks]
        self.shortlist = shortlist
        self._decoder = DecoderCost.of(networks[0].architecture)
        self._all = np.arange(networks[0].embedding.num_embeddings, dtype=np.int32)

    def translate(
        self, sources: Sources, options: SearchOptions, progress: Progress | None = None
    ) -> list[list[int]]:
        """Translate sources, which end in EOS, greedily; return pieces without their ends."""
        if len(self.engines) > 1:
            found = self.search(sources, replace(options, beam=1, nbest=1), progress)
            return [list(best.tokens) for best, *_ in found]
        results: list[list[int]] = [[] for _ in sources]
        for batch, cropped, limits in self._batches(sources, options, progress):
            found = self.engines[0].greedy(cropped, limits, options.allow_unknown)
            for index, translation in zip(batch, found, strict=True):
                results[index] = translation
        return results

    def search(
        self, sources: Sources, options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Candidate]]:
        """Return the n best translations of each source; probabilities are shares of the pieces allowed there."""
        results = [[Candidate((), 0.0)] for _ in sources]
        ensemble = Ensemble(self.engines)
        for batch, cropped, limits in self._batches(sources, options, progress):
            with torch.inference_mode():
                source, mask = pad(cropped)
                found = search_batch(ensemble, source, mask, torch.tensor(limits), options)
            for index, candidates in zip(batch, found, strict=True):
                pieces = [tuple(self.columns[list(one.tokens)].tolist()) for one in candidates]
                results[index] = list(map(Candidate, pieces, [one.score for one in candidates]))
        return results

    def force_decode(self, pairs: Sequence[Sources], options: SearchOptions) -> list[float]:
        """Return the score of each pair of source and target, EOS last in both; any piece is allowed."""
        sources, targets = ([pair[side] for pair in pairs] for side in range(2))
        for engine in self.engines:
            engine.reserve(max(map(len, [*map(options.crop, sources), *targets]), default=0) + 1)
        self._choose(self._all)
        return force_decode(Ensemble(self.engines), sources, targets, options)

    def _batches(
        self, sources: Sources, options: SearchOptions, progress: Progress | None
    ) -> Iterator[tuple[list[int], list[list[int]], list[int]]]:
        """Yield indices, cropped sources and limits of each batch, after choosing its columns."""
        sources = [options.crop(source) for source in sources]
        lengths = [len(source) - 1 for source in sources]
        longest = max(map(options.limit, lengths), default=0)
        for engine in self.engines:
            engine.reserve(max([longest, *lengths]) + 1)
        if self.shortlist is None:
            self._choose(self._all)
        if options.batch_size is not None:
            batches = options.batches(lengths)
        else:
            batches = best_batches(sources, self._decoder, self.shortlist, options.batch_tokens)
        for batch in batches:
            cropped = [sources[index] for index in batch]
            if self.shortlist is not None:
                self._choose(self.shortlist.columns(piece for one in cropped for piece in one))
            yield batch, cropped, [options.limit(lengths[index]) for index in batch]
            if progress is not None:
                progress(len(batch))

    def _choose(self, columns: np.ndarray) -> None:
        self.columns = columns
        for engine in self.engines:
            engine.choose(columns)
