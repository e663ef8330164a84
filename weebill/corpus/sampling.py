"""Random samples of a table's rows, or of a stream's items, drawn in one pass."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from weebill.corpus.table import read_batches

T = TypeVar("T")


def draw_rows(batches: Iterable[pa.Table], count: int, seed: int) -> pa.Table | None:
    """Draw `count` rows uniformly, or all if there are fewer, in random order; return None for no batches.

    Memory holds these rows and one batch.
    """
    random = np.random.default_rng(seed)
    drawn, numbers = None, np.zeros(0)
    for batch in batches:
        own = random.random(batch.num_rows)
        # The rows with the smallest numbers are kept, so most rows of later batches are ignored.
        rows = np.flatnonzero(own < (numbers[-1] if len(numbers) == count else 1.0))
        numbers = np.concatenate([numbers, own[rows]])
        least = np.argsort(numbers, kind="stable")[:count]
        chosen = batch.take(pa.array(rows))
        both = chosen if drawn is None else pa.concat_tables([drawn, chosen])
        drawn, numbers = both.take(pa.array(least)).combine_chunks(), numbers[least]
    return drawn


def draw_texts(corpus: str | Path, side: str, count: int, seed: int) -> list[str]:
    """Draw `count` texts of a side's kept rows uniformly, or all if there are fewer, in random order.

    Raises the same errors as `read_batches`.
    """
    drawn = draw_rows(map(pa.table, read_batches(corpus, [side])), count, seed)
    return [] if drawn is None else drawn[side].to_pylist()


def draw_items(items: Iterable[T], count: int, seed: int) -> list[T]:
    """Draw `count` items uniformly, or return all in their order if there are fewer.

    This is reservoir sampling (Vitter 1985, algorithm R): memory holds only the drawn items.
    """
    generator = random.Random(seed)
    drawn: list[T] = []
    for seen, item in enumerate(items):
        if seen < count:
            drawn.append(item)
        elif (place := generator.randrange(seen + 1)) < count:
            drawn[place] = item
    return drawn
