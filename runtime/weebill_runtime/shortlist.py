"""Lexical shortlists: the likeliest translations of each source piece, and the frequent pieces (WNGT20 §5)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weebill_runtime.errors import InputError
from weebill_runtime.tensor_file import read_tensors
from weebill_runtime.vocabulary import EOS, UNK

TENSORS = ("candidates", "counts", "frequent")  # names in a file
KINDS = ("U16", "U32")  # their types


@dataclass(frozen=True)
class Shortlist:
    """Target pieces of each source piece (source pieces, k), best first, padded with −1, and of every sentence (n,).

    made_with: hash of the vocabulary.  target_pieces: size of the target's own vocabulary, if there are two.
    """

    candidates: np.ndarray
    frequent: np.ndarray
    made_with: str | None = None
    target_pieces: int | None = None

    @property
    def targets(self) -> int:
        """Number of target pieces."""
        return self.target_pieces or len(self.candidates)

    def columns(self, pieces: Iterable[int]) -> np.ndarray:
        """Return the target pieces for some source pieces, ascending, EOS and UNK first: int32."""
        chosen = np.zeros(self.targets + 1, dtype=bool)  # the last stands for −1
        chosen[self.frequent] = True
        chosen[self.candidates[np.unique(np.fromiter(pieces, dtype=np.int64))].ravel()] = True
        chosen[[EOS, UNK]] = True
        return np.flatnonzero(chosen[:-1]).astype(np.int32)

    @classmethod
    def load(
        cls, path: str | Path, sizes: tuple[int, int | None], made_with: str | None = None
    ) -> "Shortlist":
        """Read the file of a shortlist.  Raises InputError if it is not one, or was made with another vocabulary.

        sizes, made_with: those of the model's vocabulary (`Vocabulary.sizes`, its hash).
        """
        try:
            tensors, told = read_tensors(path, lambda name: KINDS if name in TENSORS else ())
            candidates, counts, frequent = (tensors[name] for name in TENSORS)
            made, own = told.get("vocabulary"), told.get("target_pieces")
            own = own and int(own)
            for pieces in (candidates, frequent):
                if pieces.size and pieces.max() >= (own or len(counts)):
                    raise ValueError(f"piece {pieces.max()} of {own or len(counts)}")
            counts = counts.astype(np.int64)
            if counts.sum() != candidates.size:
                raise ValueError(f"{candidates.size} candidates where {counts.sum()} are counted")
            padded = np.full((len(counts), counts.max(initial=0)), -1, dtype=np.int32)
            padded[np.arange(padded.shape[1]) < counts[:, None]] = candidates
            shortlist = cls(padded, frequent.astype(np.int32), made, own)
        except (OSError, LookupError, TypeError, ValueError) as error:
            message = f"{path}: no shortlist, or damaged ({error}); make it again"
            raise InputError(message) from error
        difference = None
        target, source = sizes
        found, wanted = (len(shortlist.candidates), shortlist.targets), (source or target, target)
        if found != wanted:
            numbers = [" and ".join(map(str, dict.fromkeys(one))) for one in (found, wanted)]
            difference = f"made for a vocabulary of {numbers[0]} pieces, the model has {numbers[1]}"
        elif made and made_with and made != made_with:
            difference = f"made with vocabulary {made[:8]}…, the model's is {made_with[:8]}…"
        if difference:
            raise InputError(f"{path}: {difference}; make a shortlist of this model's corpus")
        return shortlist
