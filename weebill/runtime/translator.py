"""Translation of pieces by a network or an ensemble, in batches; results are in the order of the input."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from weebill.runtime.batching import DecoderCost, Sources, best_batches
from weebill.runtime.engines import engine_for
from weebill.runtime.shortlist import Shortlist
from weebill.translation.model.batch import pad
from weebill.translation.model.network import Translator
from weebill.translation.search import Candidate, Progress, SearchOptions
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.run import search_batch


class Runtime:
    """Networks with one vocabulary, averaged as an ensemble, for fast search by the extension or by PyTorch.

    isa: an instruction set of `extension`, or `portable`.  shortlist: pieces that may stand in a translation;
    None: any piece.  precision: see `engine_for`.
    Raises InputError where the extension cannot be built, or cannot hold a network.
    """

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
                scores = [one.score for one in candidates]
                results[index] = list(map(Candidate, pieces, scores))
        return results

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
