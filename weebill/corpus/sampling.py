"""Some rows of a table, or some items of any stream, drawn as they go by."""

import random
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import pyarrow as pa

T = TypeVar("T")


def draw_rows(batches: Iterable[pa.Table], count: int, seed: int) -> pa.Table | None:
    """`count` rows, or all where there are fewer, each as likely as any other, in random order; None of no batches.

    Memory: of these rows and one batch.
    """
    random = np.random.default_rng(seed)
    drawn, numbers = None, np.zeros(0)
    for batch in batches:
        own = random.random(batch.num_rows)
        # The rows of the least numbers stay, so most of a late batch is not looked at.
        rows = np.flatnonzero(own < (numbers[-1] if len(numbers) == count else 1.0))
        numbers = np.concatenate([numbers, own[rows]])
        least = np.argsort(numbers, kind="stable")[:count]
        chosen = batch.take(pa.array(rows))
        both = chosen if drawn is None else pa.concat_tables([drawn, chosen])
        drawn, numbers = both.take(pa.array(least)).combine_chunks(), numbers[least]
    return drawn


def draw_items(items: Iterable[T], count: int, seed: int) -> list[T]:
    """`count` items, each as likely as any other, or all in their order where there are fewer.

    Reservoir sampling (Vitter 1985, algorithm R): memory is that of these items.
    """
    generator = random.Random(seed)
    drawn: list[T] = []
    for seen, item in enumerate(items):
        if seen < count:
            drawn.append(item)
        elif (place := generator.randrange(seen + 1)) < count:
            drawn[place] = item
    return drawn
