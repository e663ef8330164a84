"""Counts of a word alignment's links."""

from collections.abc import Iterable, Sequence

import numpy as np

from weebill.corpus.symmetrization import Link

BUFFER = 2**22  # links counted at once: 32 MB


def count_links(
    aligned: Iterable[tuple[Sequence[int], Sequence[int], Sequence[Link]]], vocabulary: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the links of aligned pairs.

    Returns links (n,) as source·vocabulary + target, ascending; their counts (n,); and the frequency of each target
    piece in the text (vocabulary,).
    """
    links, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    occurrences = np.zeros(vocabulary, np.int64)
    found: list[int] = []
    targets: list[int] = []

    def settle() -> None:
        nonlocal links, counts
        new, number = np.unique(np.array(found, np.int64), return_counts=True)
        merged, place = np.unique(np.concatenate([links, new]), return_inverse=True)
        total = np.zeros(len(merged), np.int64)
        np.add.at(total, place, np.concatenate([counts, number]))
        links, counts = merged, total
        np.add.at(occurrences, targets, 1)
        found.clear(), targets.clear()

    for source, target, pair_links in aligned:
        found += [source[i] * vocabulary + target[j] for i, j in pair_links]
        targets += target
        if len(found) >= BUFFER:
            settle()
    settle()
    return links, counts, occurrences
