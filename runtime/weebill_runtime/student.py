"""Translation of pieces by a student, in batches; results are in the order of the input."""

from collections.abc import Iterator, Sequence
from threading import Event, Lock

import numpy as np

from weebill_runtime.architecture import Architecture
from weebill_runtime.batching import DecoderCost, Sources, best_batches
from weebill_runtime.compiled import Engine
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.text_translator import Progress

Batch = tuple[list[int], list[list[int]], list[int]]


class Student:
    """Engines with equal vocabularies, and their shortlist; several engines are for searches with an ensemble."""

    def __init__(
        self,
        engines: Sequence[Engine],
        architecture: Architecture,
        shortlist: Shortlist | None = None,
    ):
        self.engines, self.shortlist = list(engines), shortlist
        self.turn = Lock()  # for threads that share the student
        self.ended = Event()  # once it is set, no further batch begins
        self._decoder = DecoderCost.of(architecture)
        self.every = np.arange(architecture.vocabulary, dtype=np.int32)

    def translate(
        self, sources: Sources, options: SearchOptions, progress: Progress | None = None
    ) -> list[list[int]]:
        """Translate sources, which end in EOS, greedily; return pieces without their ends."""
        results: list[list[int]] = [[] for _ in sources]
        for batch, cropped, limits in self.batches(sources, options, progress):
            found = self.engines[0].greedy(cropped, limits, options.allow_unknown)
            for index, translation in zip(batch, found, strict=True):
                results[index] = translation
        return results

    def batches(
        self, sources: Sources, options: SearchOptions, progress: Progress | None
    ) -> Iterator[Batch]:
        """Yield indices, cropped sources and limits of each batch, after choosing its columns."""
        sources = [options.crop(source) for source in sources]
        lengths = [len(source) - 1 for source in sources]
        longest = max(map(options.limit, lengths), default=0)
        for engine in self.engines:
            engine.reserve(max([longest, *lengths]) + 1)
        if self.shortlist is None:
            self.choose(self.every)
        for batch in self._divide(sources, lengths, options):
            if self.ended.is_set():
                return
            cropped = [sources[index] for index in batch]
            if self.shortlist is not None:
                self.choose(self.shortlist.columns(piece for one in cropped for piece in one))
            yield batch, cropped, [options.limit(lengths[index]) for index in batch]
            if progress is not None:
                progress(len(batch))

    def _divide(
        self, sources: Sources, lengths: Sequence[int], options: SearchOptions
    ) -> list[list[int]]:
        """Divide sources of these lengths, ends excluded, into batches; the engine chooses if the options do not."""
        if options.batch_size is not None:
            return options.batches(lengths)
        return best_batches(sources, self._decoder, self.shortlist, options.batch_tokens)

    def choose(self, columns: np.ndarray) -> None:
        """Choose the pieces that may be output."""
        self.columns = columns
        for engine in self.engines:
            engine.choose(columns)
