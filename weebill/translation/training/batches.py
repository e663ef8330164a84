"""Training batches: a stream of token-budget batches of an encoded corpus that can start anywhere.

Sentences are shuffled over the whole epoch; within a window of that order they are sorted by length and cut
into batches of bounded size, and the window's batches are shuffled again.  So batches have little padding, and
the order of lengths in training is still random (no bucketing bias).  Batch number n depends on the seed and n
alone: a resumed run, or each of several devices, reads the same stream.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

WINDOW = 50  # batches sorted by length together


class Corpus(Protocol):
    """Pairs of sentences, of which batches need the lengths alone."""

    def __len__(self) -> int: ...

    def lengths(self, side: str) -> np.ndarray:
        """Pieces per sentence (pairs,) of `source` or `target`."""


def batch_stream(
    corpus: Corpus,
    batch_tokens: int,
    seed: int,
    first: int = 0,
    chosen: np.ndarray | None = None,
) -> Iterator[np.ndarray]:
    """Endless batches as arrays of row numbers, from batch number `first` on.

    chosen: the rows of an epoch, by default every row once.

    A batch holds at most `batch_tokens` positions of source plus target, padding counted, and at least one pair.
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
    """Consecutive stretches (begin, end) whose padded size stays within the budget."""
    cuts, begin, longest_source, longest_target = [], 0, 0, 0
    for row, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        longest_source, longest_target = max(longest_source, s), max(longest_target, t)
        if row > begin and (row - begin + 1) * (longest_source + longest_target) > budget:
            cuts.append((begin, row))
            begin, longest_source, longest_target = row, s, t
    cuts.append((begin, len(source)))
    return cuts
