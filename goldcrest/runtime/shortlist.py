"""Lexical shortlist: the few pieces that a translation of some source pieces may need (WNGT20 §5, METHODS).

Of each source piece its most probable translations, and the pieces that are frequent in any translation; a
batch chooses among the union.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from goldcrest.errors import InputError
from goldcrest.files import atomic_path
from goldcrest.translation.vocabulary import EOS, UNK


@dataclass(frozen=True)
class Shortlist:
    """candidates: (vocabulary, k) target pieces of each source piece, −1 where there are fewer.

    frequent: (n,) target pieces for every sentence.
    """

    candidates: np.ndarray
    frequent: np.ndarray

    def columns(self, pieces: Iterable[int]) -> np.ndarray:
        """The target pieces for some source pieces, ascending, EOS and UNK first: int32."""
        chosen = np.zeros(len(self.candidates) + 1, dtype=bool)  # the last stands for −1
        chosen[self.frequent] = True
        chosen[self.candidates[np.unique(np.fromiter(pieces, dtype=np.int64))].ravel()] = True
        chosen[[EOS, UNK]] = True
        return np.flatnonzero(chosen[:-1]).astype(np.int32)

    def save(self, path: str | Path) -> None:
        """Write a safetensors file, atomically."""
        with atomic_path(path) as partial:
            save_file({"candidates": self.candidates, "frequent": self.frequent}, partial)

    @classmethod
    def load(cls, path: str | Path, vocabulary: int) -> "Shortlist":
        """Read a file of `save`.  Raises InputError where it is none, or of another vocabulary."""
        try:
            tensors = load_file(path)
            shortlist = cls(tensors["candidates"], tensors["frequent"])
        except (OSError, SafetensorError, KeyError) as error:
            raise InputError(
                f"{path}: no shortlist, or damaged ({error}); make it again"
            ) from error
        if len(shortlist.candidates) != vocabulary:
            raise InputError(
                f"{path}: made for a vocabulary of {len(shortlist.candidates)} pieces, the model has "
                f"{vocabulary}; make a shortlist of this model's corpus"
            )
        return shortlist
