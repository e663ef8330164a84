"""Files of lexical shortlists, which the runtime reads."""

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from weebill.files import atomic_path
from weebill_runtime.shortlist import Shortlist


def save_shortlist(shortlist: Shortlist, path: str | Path) -> None:
    """Write a safetensors file, atomically: concatenated candidates of all pieces, and their counts."""
    candidates = shortlist.candidates
    kind = np.uint16 if max(shortlist.targets, len(candidates)) <= 2**16 else np.uint32
    present = candidates >= 0
    tensors = {
        "candidates": candidates[present].astype(kind),
        "counts": present.sum(1).astype(kind),
        "frequent": shortlist.frequent.astype(kind),
    }
    told = {"vocabulary": shortlist.made_with, "target_pieces": shortlist.target_pieces}
    told = {name: str(value) for name, value in told.items() if value}
    with atomic_path(path) as partial:
        save_file(tensors, partial, told or None)
