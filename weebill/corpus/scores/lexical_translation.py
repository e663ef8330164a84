"""How well the words of a pair explain each other: a table of word translations, and the score by it.

The table counts the links of an alignment of other text.  A target word t_j of a source s_1 … s_n has

    p(t_j | s) = 0.9 · (1/n) Σ_i p(t_j | s_i) + 0.1 · max(p(t_j), 1e-6)

as in IBM Model 1 (Brown et al. 1993) smoothed by the word's own frequency, and a direction's score is the mean of
log p(t_j | s).  A pair's score is the worse of its directions, so that text without counterpart on either side
lowers it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.alignment import align
from weebill.corpus.links import count_links
from weebill.corpus.sampling import draw_items
from weebill.corpus.scores.language_model import tokens
from weebill.corpus.table import read_columns, write_table

UNEXPLAINED = 0.1  # of a word's probability, given by its frequency
RAREST = 1e-6  # the frequency of a word that the table does not have
SCHEMA = pa.schema(
    [
        pa.field("source", pa.string()),
        pa.field("target", pa.string()),
        pa.field("links", pa.int64()),
    ]
)

Pair = tuple[str, str]


def estimate(pairs: Iterable[Pair], output: str | Path, most: int, seed: int) -> None:
    """Write the table `source`, `target`, `links` of at most `most` pairs, which `seed` draws.

    Words and punctuation marks are in small letters.  Memory is that of the pairs drawn.
    Raises InputError where there are no pairs, or the aligner is missing or fails.
    """
    numbers: dict[str, int] = {}  # of a word, on whichever side it stands

    def numbered(text: str) -> list[int]:
        return [numbers.setdefault(word, len(numbers)) for word in tokens(text).split()]

    chosen = [(numbered(source), numbered(target)) for source, target in sample(pairs, most, seed)]
    words = pa.array(numbers, pa.string())
    aligned = align(chosen, len(words), seed, Path(f"{output}.work"))
    links, counts, _ = count_links(aligned, len(words))
    sides = [words.take(pa.array(side)) for side in np.divmod(links, len(words))]
    write_table(output, pa.table([*sides, pa.array(counts)], schema=SCHEMA))


def sample(pairs: Iterable[Pair], most: int, seed: int) -> list[Pair]:
    """At most `most` pairs in their order, each as likely as any other, read once."""
    return [pair for _, pair in sorted(draw_items(enumerate(pairs), most, seed))]


def log_probability(path: str | Path) -> Callable[[Sequence[str], Sequence[str]], np.ndarray]:
    """A function from source and target lines to scores (lines,): nats per word, the higher the better.

    Raises InputError where the table is missing or damaged, or lacks a column.
    """
    table = _Table(path)

    def scores(sources: Sequence[str], targets: Sequence[str]) -> np.ndarray:
        pairs = zip(sources, targets, strict=True)
        return np.fromiter((min(table.directions(*pair)) for pair in pairs), float, len(sources))

    return scores


class _Table:
    """Counts of links in the order of their keys, source·targets + target, and the sums of both sides."""

    def __init__(self, path: str | Path) -> None:
        table = read_columns(path, SCHEMA.names, kept=False)
        counts = table["links"].to_numpy()
        self._numbers, sides = [], []
        for name in ("source", "target"):
            side = pc.dictionary_encode(table[name].combine_chunks())
            words = side.dictionary.to_pylist()
            self._numbers.append({word: number for number, word in enumerate(words)})
            sides.append(side.indices.to_numpy().astype(np.int64))
        keys = sides[0] * len(self._numbers[1]) + sides[1]
        order = np.argsort(keys)
        self._keys, self._counts = keys[order], counts[order].astype(float)
        # of each word, and of one that is not in the table, whose number is the last
        self._sums = [
            np.bincount(side, counts, len(words) + 1)
            for side, words in zip(sides, self._numbers, strict=True)
        ]
        self._total = counts.sum()

    def directions(self, source: str, target: str) -> Iterator[float]:
        """Mean log probability of the target's words given the source, and the other way round."""
        numbers = [
            np.array([known.get(word, len(known)) for word in tokens(text).split()], np.int64)
            for text, known in zip((source, target), self._numbers, strict=True)
        ]
        links = self._links(*numbers)
        sums = [of_side[words] for of_side, words in zip(self._sums, numbers, strict=True)]
        yield self._mean_log(links, *sums)
        yield self._mean_log(links.T, *reversed(sums))

    def _links(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """(sources, targets): how often each pair of words was linked."""
        known = [len(words) for words in self._numbers]
        keys = sources[:, None] * known[1] + targets
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        inside = (sources < known[0])[:, None] & (targets < known[1])
        return np.where(inside & (self._keys[places] == keys), self._counts[places], 0.0)

    def _mean_log(self, links: np.ndarray, given: np.ndarray, words: np.ndarray) -> float:
        """links: (given words, words); given, words: how often each of them was linked at all."""
        if not links.size:
            return float(np.log(UNEXPLAINED * RAREST))
        explained = (links / np.maximum(given, 1)[:, None]).mean(axis=0)
        frequency = np.maximum(words / self._total, RAREST)
        return float(np.log((1 - UNEXPLAINED) * explained + UNEXPLAINED * frequency).mean())
