"""Work of the GPU benchmark: random sentences with the lengths of news text, and a clock for a device."""

import time
from collections.abc import Callable

import numpy as np
import torch

from weebill.translation.training.encoding import EncodedCorpus
from weebill_runtime.vocabulary import EOS

PIECES_A_WORD = 1.4  # news text, vocabulary of 32,000 pieces
MEDIAN, SPREAD = 28, 0.55  # log-normal distribution of the lengths of sources, in pieces
SHORTEST, LONGEST = 4, 150
TARGET = 1.1  # target pieces for each source piece


def lengths(count: int) -> np.ndarray:
    """Draw lengths of sentences (count,), in pieces including the end."""
    drawn = np.random.default_rng(1).lognormal(np.log(MEDIAN), SPREAD, count)
    return np.clip(np.rint(drawn), SHORTEST, LONGEST).astype(np.int64)


def sentences(count: int, pieces: int) -> list[list[int]]:
    """Draw sources of random pieces, with the end piece last."""
    draw = np.random.default_rng(2)
    return [[*draw.integers(2, pieces, size - 1).tolist(), EOS] for size in lengths(count)]


class RandomCorpus(EncodedCorpus):
    """Parallel corpus of random pieces in memory."""

    def __init__(self, pairs: int, pieces: int):
        draw = np.random.default_rng(3)
        source = lengths(pairs)
        target = np.rint(TARGET * source * draw.lognormal(0, 0.15, pairs)).astype(np.int64)
        sides = {"source": source, "target": np.clip(target, SHORTEST, LONGEST)}
        self.pairs, self.identity = pairs, {}
        self.offsets = {side: np.cumsum([0, *size]) for side, size in sides.items()}
        self.ids = {}
        for side, offsets in self.offsets.items():
            ids = draw.integers(2, pieces, offsets[-1]).astype(np.uint16)
            ids[offsets[1:] - 1] = EOS
            self.ids[side] = ids
        self.weights = np.ones(pairs, dtype=np.float32)
        self.group_names, self.groups = [], None


def wait(device: str) -> None:
    """Wait until a device has done all its work."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def seconds(work: Callable[[], object], device: str) -> float:
    """Return the seconds that a device takes for some work."""
    wait(device)
    began = time.perf_counter()
    work()
    wait(device)
    return time.perf_counter() - began
