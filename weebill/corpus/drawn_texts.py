"""Texts drawn at random from one side of a table."""

from pathlib import Path

import pyarrow as pa

from weebill.corpus.sampling import draw_rows
from weebill.corpus.table import read_batches


def draw_texts(corpus: str | Path, side: str, count: int, seed: int) -> list[str]:
    """Draw `count` texts of a side's kept rows uniformly, or all if there are fewer, in random order.

    Raises the same errors as `read_batches`.
    """
    drawn = draw_rows(map(pa.table, read_batches(corpus, [side])), count, seed)
    return [] if drawn is None else drawn[side].to_pylist()
