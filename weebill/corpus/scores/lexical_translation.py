"""Lexical translation score: gain in probability of each side's words given the other side, from a table of words.

The table counts the links of an alignment of other text.  A target word t_j, given a source s_1 … s_n, has

    p(t_j | s) = 0.9 · (1/n) Σ_i p(t_j | s_i) + 0.1 · max(p(t_j), 1e-6)

as in IBM Model 1 (Brown et al. 1993), smoothed by the word's own frequency.  A direction's score is the mean of
log p(t_j | s) − log max(p(t_j), 1e-6); a pair's score is the lower of its two directions.  Without the second term,
rare words would count as bad translations.  With tables of 9,000 Tatoeba pairs, this term raises the area under the
ROC curve (other true pairs against pairs with the next line's target) from 0.95 to 0.996 for en-de, and from 0.87 to
0.97 for en-ja and en-ar.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.alignment import align, count_links
from weebill.corpus.sampling import draw_items
from weebill.corpus.scores.language_model import tokens
from weebill.corpus.table import read_columns, write_table
from weebill_runtime.names import SIDES

UNEXPLAINED = 0.1  # weight of a word's own frequency in its probability
RAREST = 1e-6  # frequency of words that are not in the table
SCHEMA = pa.schema({"source": pa.string(), "target": pa.string(), "links": pa.int64()})

Pair = tuple[str, str]


def estimate(pairs: Iterable[Pair], output: str | Path, most: int, seed: int) -> None:
    """Write the table `source`, `target`, `links`, estimated from at most `most` pairs that are drawn by `seed`.

    Words and punctuation marks are in lower case.  Memory holds the drawn pairs.
    Raises InputError if there are no pairs, or the aligner is missing or fails.
    """
    numbers: dict[str, int] = {}  # numbers of the words of both sides

    def numbered(text: str) -> list[int]:
        return [numbers.setdefault(word, len(numbers)) for word in tokens(text).split()]

    chosen = [(numbered(source), numbered(target)) for source, target in sample(pairs, most, seed)]
    words = pa.array(numbers, pa.string())
    aligned = align(chosen, len(words), seed, Path(f"{output}.work"))
    links, counts, _ = count_links(aligned, len(words))
    sides = [words.take(pa.array(side)) for side in np.divmod(links, len(words))]
    write_table(output, pa.table([*sides, pa.array(counts)], schema=SCHEMA))


def sample(pairs: Iterable[Pair], most: int, seed: int) -> list[Pair]:
    """Draw at most `most` pairs uniformly in one pass; return them in their order."""
    return [pair for _, pair in sorted(draw_items(enumerate(pairs), most, seed))]


def log_ratio(path: str | Path) -> Callable[[Sequence[str], Sequence[str]], np.ndarray]:
    """Return a function from source and target lines to scores (lines,): nats gained per word; higher is better.

    Raises InputError if the table is missing or damaged, or lacks a column.
    """
    directions = _Table(path).directions

    def scores(sources: Sequence[str], targets: Sequence[str]) -> np.ndarray:
        pairs = zip(sources, targets, strict=True)
        return np.fromiter((min(directions(*pair)) for pair in pairs), float, len(sources))

    return scores


class _Table:
    """Link counts in the order of their keys, source·targets + target, and the sums for the words of both sides."""

    def __init__(self, path: str | Path) -> None:
        table = read_columns(path, SCHEMA.names, kept=False)
        counts = table["links"].to_numpy()
        self._numbers, sides = [], []
        for name in SIDES:
            side = pc.dictionary_encode(table[name].combine_chunks())
            words = side.dictionary.to_pylist()
            self._numbers.append({word: number for number, word in enumerate(words)})
            sides.append(side.indices.to_numpy().astype(np.int64))
        keys = sides[0] * len(self._numbers[1]) + sides[1]
        order = np.argsort(keys)
        self._keys, self._counts = keys[order], counts[order].astype(float)
        # Sum of the link counts of each word.  The last number stands for words that are not in the table.
        self._sums = [
            np.bincount(side, counts, len(words) + 1)
            for side, words in zip(sides, self._numbers, strict=True)
        ]
        self._total = counts.sum()

    def directions(self, source: str, target: str) -> Iterator[float]:
        """Yield the mean log ratio of the target's words given the source, then the reverse."""
        numbers = [
            np.array([known.get(word, len(known)) for word in tokens(text).split()], np.int64)
            for text, known in zip((source, target), self._numbers, strict=True)
        ]
        links = self._links(*numbers)
        sums = [of_side[words] for of_side, words in zip(self._sums, numbers, strict=True)]
        yield self._mean_log_ratio(links, *sums)
        yield self._mean_log_ratio(links.T, *reversed(sums))

    def _links(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the counts (sources, targets) of links between the words."""
        known = [len(words) for words in self._numbers]
        keys = sources[:, None] * known[1] + targets
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        inside = (sources < known[0])[:, None] & (targets < known[1])
        return np.where(inside & (self._keys[places] == keys), self._counts[places], 0.0)

    def _mean_log_ratio(self, links: np.ndarray, given: np.ndarray, words: np.ndarray) -> float:
        """Return the mean of log p − log f.  links: (given words, words).  given, words: sum of each word's links."""
        if not links.size:
            return float(np.log(UNEXPLAINED))
        explained = (links / np.maximum(given, 1)[:, None]).mean(axis=0)
        frequency = np.maximum(words / self._total, RAREST)
        return float(np.log((1 - UNEXPLAINED) * explained / frequency + UNEXPLAINED).mean())
