"""Lexical shortlists: the likeliest translations of each source piece, and the frequent pieces (WNGT20 §5)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from weebill.errors import InputError
from weebill.files import atomic_path
from weebill.tensor_files import check_types
from weebill.translation.model.vocabulary import EOS, UNK

TENSORS = ("candidates", "counts", "frequent")  # names in a file
KINDS = ("U16", "U32")  # their types


@dataclass(frozen=True)
class Shortlist:
    """Target pieces of each source piece (vocabulary, k), best first, −1 fills up; and of every sentence (n,)."""

    candidates: np.ndarray
    frequent: np.ndarray
    made_with: str | None = None

    def columns(self, pieces: Iterable[int]) -> np.ndarray:
        """Return the target pieces for some source pieces, ascending, EOS and UNK first: int32."""
        chosen = np.zeros(len(self.candidates) + 1, dtype=bool)  # the last stands for −1
        chosen[self.frequent] = True
        chosen[self.candidates[np.unique(np.fromiter(pieces, dtype=np.int64))].ravel()] = True
        chosen[[EOS, UNK]] = True
        return np.flatnonzero(chosen[:-1]).astype(np.int32)

    def save(self, path: str | Path) -> None:
        """Write a safetensors file, atomically: candidates of all pieces one after the other, and their counts."""
        kind = np.uint16 if len(self.candidates) <= 2**16 else np.uint32
        present = self.candidates >= 0
        tensors = {
            "candidates": self.candidates[present].astype(kind),
            "counts": present.sum(1).astype(kind),
            "frequent": self.frequent.astype(kind),
        }
        with atomic_path(path) as partial:
            save_file(tensors, partial, {"vocabulary": self.made_with} if self.made_with else None)

    @classmethod
    def load(cls, path: str | Path, vocabulary: int, made_with: str | None = None) -> "Shortlist":
        """Read a file that `save` wrote.  Raises InputError if it is none, or was made with another vocabulary."""
        try:
            check_types(path, lambda name: KINDS if name in TENSORS else ())
            with safe_open(path, "numpy") as file:
                candidates, counts, frequent = map(file.get_tensor, TENSORS)
                made = (file.metadata() or {}).get("vocabulary")
            for pieces in (candidates, frequent):
                if pieces.size and pieces.max() >= len(counts):
                    raise ValueError(f"piece {pieces.max()} of {len(counts)}")
            counts = counts.astype(np.int64)
            if counts.sum() != candidates.size:
                raise ValueError(f"{candidates.size} candidates where {counts.sum()} are counted")
            padded = np.full((len(counts), counts.max(initial=0)), -1, dtype=np.int32)
            padded[np.arange(padded.shape[1]) < counts[:, None]] = candidates
            shortlist = cls(padded, frequent.astype(np.int32), made)
        except (OSError, SafetensorError, TypeError, ValueError) as error:
            message = f"{path}: no shortlist, or damaged ({error}); make it again"
            raise InputError(message) from error
        difference = None
        if (size := len(shortlist.candidates)) != vocabulary:
            difference = f"made for a vocabulary of {size} pieces, the model has {vocabulary}"
        elif made and made_with and made != made_with:
            difference = f"made with vocabulary {made[:8]}…, the model's is {made_with[:8]}…"
        if difference:
            raise InputError(f"{path}: {difference}; make a shortlist of this model's corpus")
        return shortlist
