"""Training batches: a stream of batches of an encoded corpus with a token budget, which can start anywhere.

Sentences are shuffled over the whole epoch.  Within a window of this order, they are sorted by length and cut into
batches of bounded size, and the batches of the window are shuffled again.  So batches have little padding, but the
order of lengths in training is random (no bucketing bias).  Batch number n depends only on the seed and n, so a
resumed run, or each of several devices, reads the same stream.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

WINDOW = 50  # batches sorted by length together


class Corpus(Protocol):
    """Pairs of sentences; batches need only their lengths."""

    def __len__(self) -> int: ...

    def lengths(self, side: str) -> np.ndarray:
        """Return the number of pieces of each sentence (pairs,) of `source` or `target`."""


def batch_stream(
    corpus: Corpus,
    batch_tokens: int,
    seed: int,
    first: int = 0,
    chosen: np.ndarray | None = None,
) -> Iterator[np.ndarray]:
    """Yield batches without end, as arrays of row numbers, from batch number `first` on.

    chosen: the rows of an epoch, by default every row once.

    A batch holds at most `batch_tokens` positions of source plus target, padding included, and at least one pair.
    """
    source, target = corpus.lengths("source"), corpus.lengths("target")
    if chosen is None:
        mean = float(source.mean() + target.mean())
    else:
        mean = float(source[chosen].mean() + target[chosen].mean())
    window_rows = max(1, int(WINDOW * batch_tokens / mean))
    number, epoch = 0, 0
    while True:
        random = np.random.default_rng((seed, epoch))
        order = random.permutation(len(corpus) if chosen is None else chosen)
        for window, begin in enumerate(range(0, len(order), window_rows)):
            rows = order[begin : begin + window_rows]
            rows = rows[np.lexsort((rows, source[rows], target[rows]))]
            cuts = _cut(source[rows], target[rows], batch_tokens)
            if number + len(cuts) <= first:
                number += len(cuts)
                continue
            for index in np.random.default_rng((seed, epoch, window + 1)).permutation(len(cuts)):
                if number >= first:
                    yield rows[slice(*cuts[index])]
                number += 1
        epoch += 1


def _cut(source: np.ndarray, target: np.ndarray, budget: int) -> list[tuple[int, int]]:
    """Return consecutive ranges (begin, end) whose padded size is within the budget."""
    cuts, begin, longest_source, longest_target = [], 0, 0, 0
    for row, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        longest_source, longest_target = max(longest_source, s), max(longest_target, t)
        if row > begin and (row - begin + 1) * (longest_source + longest_target) > budget:
            cuts.append((begin, row))
            begin, longest_source, longest_target = row, s, t
    cuts.append((begin, len(source)))
    return cuts
