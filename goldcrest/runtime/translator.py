"""Whole texts through the runtime: batches in, translations out in the order of the input."""

from collections.abc import Sequence

import numpy as np
import torch

from goldcrest.errors import InputError
from goldcrest.runtime.extension import extension
from goldcrest.runtime.shortlist import Shortlist
from goldcrest.runtime.student import VECTOR, Packer
from goldcrest.translation.network import Translator, sinusoids
from goldcrest.translation.search import Progress, SearchOptions
from goldcrest.translation.search.batching import length_sorted_batches
from goldcrest.translation.vocabulary import EOS, UNK


class Runtime:
    """A network in the extension, for greedy search over pieces.

    isa: the instruction set, see `extension`.  shortlist: what may stand in a translation; without, any piece.
    Raises InputError where the extension cannot be had, or the network has a width that it cannot hold.
    """

    def __init__(self, network: Translator, isa: str, shortlist: Shortlist | None = None):
        if network.width % VECTOR:
            raise InputError(
                f"the runtime wants an embedding width that is a multiple of {VECTOR}, "
                f"this student's is {network.width}"
            )
        self.integer = _is_integer(network)
        module = extension(isa)
        kind = module.Int8Student if self.integer else module.Float32Student
        self.student = kind(Packer(self.integer).network(network))
        self.vocabulary, self.width = network.embedding.num_embeddings, network.width
        self.shortlist = shortlist
        self._room = 0

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions,
        progress: Progress | None = None,
    ) -> list[list[int]]:
        """The pieces of each source's greedy translation without its end; sources end in EOS."""
        results: list[list[int]] = [[] for _ in sources]
        longest = options.max_source_tokens
        lengths = [min(len(source) - 1, longest) for source in sources]
        self._make_room(max(map(options.limit, lengths), default=0) + longest + 1)
        if self.shortlist is None:
            self._choose(np.arange(self.vocabulary, dtype=np.int32), options)
        for batch in length_sorted_batches(lengths, options.batch_size, options.batch_tokens):
            cropped = [[*sources[index][: lengths[index]], EOS] for index in batch]
            pieces = [piece for source in cropped for piece in source]
            if self.shortlist is not None:
                self._choose(self.shortlist.columns(pieces), options)
            limits = [options.limit(lengths[index]) for index in batch]
            found = self.student.translate(pieces, [len(source) for source in cropped], limits, EOS)
            for index, translation in zip(batch, found, strict=True):
                results[index] = translation
            if progress is not None:
                progress(len(batch))
        return results

    def _choose(self, columns: np.ndarray, options: SearchOptions) -> None:
        self.student.choose(columns if options.allow_unknown else columns[columns != UNK])

    def _make_room(self, positions: int) -> None:
        if positions > self._room:
            self.student.positions(sinusoids(0, positions, self.width, torch.device("cpu")))
            self._room = positions


def _is_integer(network: Translator) -> bool:
    """Whether weights and activations are on an integer grid, so that products run on codes."""
    return getattr(network.output, "activation_scale", None) is not None
