"""The cleanest pairs of the corpora, from which a classifier is trained."""

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.stats import rankdata

from goldcrest.corpus.bicleaner.exchange import as_line
from goldcrest.corpus.scores.registry import SCORES
from goldcrest.corpus.scores.scoring import kept_rows
from goldcrest.corpus.scores.selection import ScoreColumn
from goldcrest.corpus.table import read_batches
from goldcrest.errors import InputError
from goldcrest.files import atomic_folder

log = logging.getLogger(__name__)

VALIDATION_SHARE = 0.1
MAX_VALIDATION = 2000
MIN_PAIRS = 100

Corpora = Mapping[str | Path, Sequence[tuple[str, str | Path]]]
_Row = tuple[
    float, list[float], str, str
]  # a random number, its scores (the higher the worse), source, target


def write_clean_pairs(
    corpora: Corpora, output: str | Path, pairs: int, cleanest: float, seed: int
) -> None:
    """Write `training.tsv` and `validation.tsv`, a line SOURCE TAB TARGET each, into the folder `output`.

    corpora: cleaned tables, each with the names in SCORES and the tables of what it was scored by.
    pairs: of both files at most.  They are drawn at random from the kept rows of all corpora; where there are
    scores, so many are drawn that the `cleanest` of them, by the sum of their ranks, are as many as that.
    All corpora have the same scores.
    Memory: of the drawn pairs alone.  Raises InputError where there are too few rows.
    """
    scored = any(corpora.values())
    drawn = _draw(corpora, math.ceil(pairs / cleanest) if scored else pairs, seed)
    if scored and drawn:
        # Each score by its ranks, as their units differ; of equal rows the first drawn.
        ranks = rankdata(np.array([row[1] for row in drawn]), axis=0).sum(1)
        best = np.argsort(ranks, kind="stable")[: math.ceil(cleanest * len(drawn))]
        drawn = [drawn[row] for row in sorted(best)][:pairs]
    if len(drawn) < MIN_PAIRS:
        raise InputError(
            f"the cleaned corpora have {len(drawn)} pairs to train bicleaner on, expected {MIN_PAIRS}; give it "
            "more text, or name a trained model in scoring.bicleaner.model"
        )
    held_out = min(MAX_VALIDATION, int(VALIDATION_SHARE * len(drawn)))
    parts = {"validation": drawn[:held_out], "training": drawn[held_out:]}
    with atomic_folder(output) as made:
        for name, rows in parts.items():
            text = "".join(as_line(row[2:]) for row in rows)
            (made / f"{name}.tsv").write_text(text, encoding="utf-8", newline="")
    log.info("%s pairs to train on, %s to validate on", f"{len(drawn) - held_out:,}", held_out)


def _draw(corpora: Corpora, count: int, seed: int) -> list[_Row]:
    """`count` kept rows, or all, in the order of their random numbers."""
    random = np.random.default_rng(seed)
    drawn: list[_Row] = []
    for corpus, scores in corpora.items():
        columns = [(SCORES[name], ScoreColumn(path, SCORES[name].column)) for name, path in scores]
        for batch in read_batches(corpus, ["source", "target", "dropped_by"], kept=False):
            numbers = random.random(batch.num_rows)
            badness = np.zeros((batch.num_rows, len(columns)))
            for index, (score, column) in enumerate(columns):
                values = column.take(batch.num_rows).to_numpy(zero_copy_only=False)
                badness[:, index] = -values if score.higher_is_better else values
            # Rows above the greatest that is drawn are not looked at: of many batches, most.
            limit = drawn[-1][0] if len(drawn) == count else 1.0
            rows = np.flatnonzero(kept_rows(batch) & (numbers < limit))
            texts = batch.take(pa.array(rows))
            drawn += zip(
                numbers[rows].tolist(),
                badness[rows].tolist(),
                texts.column("source").to_pylist(),
                texts.column("target").to_pylist(),
                strict=True,
            )
            drawn = sorted(drawn)[:count]
    return drawn
