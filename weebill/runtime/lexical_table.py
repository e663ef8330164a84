"""Construction of lexical shortlists: align a corpus, count links, keep the most probable translations."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from weebill.corpus.alignment import Pair, align, count_links
from weebill.corpus.table import count_rows, read_batches
from weebill.errors import InputError
from weebill_runtime.names import SIDES
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import AnyVocabulary


def make_shortlist(
    corpus: str | Path,
    vocabulary: AnyVocabulary,
    work: str | Path,
    candidates: int = 50,
    frequent: int = 50,
    pairs: int = 1_000_000,
    seed: int = 1,
) -> Shortlist:
    """Make the shortlist of a corpus table, or of `pairs` of its pairs, drawn by `seed`.

    candidates: number of likeliest target pieces of a source piece; frequent: number of the commonest target pieces
    (50 and 50 in WNGT20), to which all bytes are added.  work: a folder for the alignment.  Raises InputError for bad
    pairs, or without the aligner.
    """
    sources, targets = len(vocabulary.source), len(vocabulary.target)
    sample = sample_pairs(corpus, vocabulary, pairs, seed)
    aligned = align(sample, max(sources, targets), seed, work)
    links, counts, occurrences = count_links(aligned, targets)
    commonest = np.argsort(-occurrences, kind="stable")[:frequent]
    commonest = commonest[occurrences[commonest] > 0]
    # Without all bytes, the bytes of a character could be allowed in part only.
    more = np.setdiff1d(np.array(vocabulary.target.byte_pieces, np.int64), commonest)
    commonest = np.concatenate([commonest, more]).astype(np.int32)
    probable = most_probable(links, counts, (sources, targets), candidates)
    own = None if vocabulary.sizes[1] is None else targets
    return Shortlist(probable, commonest, vocabulary.sha256, own)


def sample_pairs(
    corpus: str | Path, vocabulary: AnyVocabulary, pairs: int, seed: int
) -> Iterator[Pair]:
    """Yield the pieces of `pairs` pairs of a corpus table in its order, or of all if there are no more."""
    total = count_rows(corpus)
    rows = range(total)
    if pairs < total:
        rows = sorted(random.Random(seed).sample(rows, pairs))
    wanted, first = np.fromiter(rows, dtype=np.int64, count=len(rows)), 0
    for batch in read_batches(corpus, ["source", "target"]):
        inside = wanted[(wanted >= first) & (wanted < first + batch.num_rows)] - first
        part = batch.take(inside)
        sides = []
        for side in SIDES:
            texts = part[side].to_pylist()
            if None in texts:
                place = f"{corpus}: row {first + inside[texts.index(None)]:,}"
                raise InputError(f"{place} has no {side}; a shortlist needs translated text")
            sides.append(getattr(vocabulary, side).encode(texts))
        yield from ((source[:-1], target[:-1]) for source, target in zip(*sides, strict=True))
        first += batch.num_rows


def most_probable(
    links: np.ndarray, counts: np.ndarray, sizes: tuple[int, int], kept: int
) -> np.ndarray:
    """Return (source pieces, kept) targets of each source piece by falling p(t|s), ties by number; −1 fills up.

    links, counts: from `count_links`.  sizes: of the source and the target vocabulary.
    """
    sources, targets = np.divmod(links, sizes[1])
    order = np.lexsort((targets, -counts, sources))  # count(s), the divisor, is the same for all
    sources, targets = sources[order], targets[order]
    rank = np.arange(len(sources)) - np.searchsorted(sources, sources)
    table = np.full((sizes[0], kept), -1, dtype=np.int32)
    table[sources[rank < kept], rank[rank < kept]] = targets[rank < kept]
    return table
