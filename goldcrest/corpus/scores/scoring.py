"""A score of every kept row of a corpus, in a table of the same shards and rows with this one column."""

import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from goldcrest.corpus.scores.registry import Score
from goldcrest.corpus.table import (
    TableWriter,
    count_rows,
    read_batches,
    read_schema,
    shard_name,
    shard_paths,
)
from goldcrest.errors import InputError
from goldcrest.files import claim_folder, content_hash, exclusive_folder, remove_folder

log = logging.getLogger(__name__)

# Texts of the sides that a score reads, each (rows,), to scores (rows,).
Scorer = Callable[..., np.ndarray]
BATCH_ROWS = 8192


def score_corpus(
    corpus: str | Path,
    output: str | Path,
    score: Score,
    scorer: Scorer,
    made_by: Mapping[str, Any],
    batch_rows: int = BATCH_ROWS,
) -> None:
    """Write the folder `output` with a shard of the same rows for each of the corpus.

    Rows that were dropped before are null.  Memory does not depend on the number of rows.  Finished shards are
    kept in `OUTPUT.work`, so that a killed job goes on where it was, to the same bytes.
    made_by: what else the scores depend on (models, code), as JSON values.
    Raises InputError where a kept row lacks a side, or its score is not a number.
    """
    output = Path(output)
    work = output.with_name(f"{output.name}.work")
    with exclusive_folder(work):
        claim_folder(
            work,
            "identity.json",
            {"corpus": content_hash(corpus), "score": score.column, "made_by": dict(made_by)},
        )
        for number, shard in enumerate(shard_paths(corpus)):
            path = work / "scores" / shard_name(number)
            if not path.exists():
                _score_shard(shard, path, score, scorer, batch_rows)
        if output.is_dir():
            remove_folder(output)
        os.replace(work / "scores", output)
    remove_folder(work)


def _score_shard(shard: Path, path: Path, score: Score, scorer: Scorer, batch_rows: int) -> None:
    sides = list(score.sides)
    columns = sides + ["dropped_by"] * ("dropped_by" in read_schema(shard).names)
    start, scored = time.monotonic(), 0
    with TableWriter(path, pa.schema([pa.field(score.column, pa.float64())])) as writer:
        for batch in read_batches(shard, columns, kept=False, rows=batch_rows):
            kept = np.flatnonzero(kept_rows(batch))
            texts = [batch.column(side).take(pa.array(kept)) for side in sides]
            for side, text in zip(sides, texts, strict=True):
                if text.null_count:
                    raise InputError(
                        f"{shard}: a kept row has no {side}, which {score.column} reads"
                    )
            values = np.full(batch.num_rows, np.nan)
            if len(kept):
                values[kept] = scorer(*(text.to_pylist() for text in texts))
            if not np.isfinite(values[kept]).all():
                raise InputError(
                    f"{shard}: {score.column} of a row is not a number; check its model"
                )
            # From pandas: what is not a number becomes null.
            column = pa.array(values, pa.float64(), from_pandas=True)
            writer.write(pa.table({score.column: column}))
            scored += len(kept)
    speed = scored / max(time.monotonic() - start, 1e-9)
    log.info(
        "%s: %s of %s rows scored, %.0f a second", shard, scored, count_rows(shard, False), speed
    )


def kept_rows(batch: pa.RecordBatch) -> np.ndarray:
    """(rows,) bool: which rows no filter has dropped; all where the table has no `dropped_by`."""
    if "dropped_by" not in batch.schema.names:
        return np.ones(batch.num_rows, bool)
    return batch.column("dropped_by").is_null().to_numpy(zero_copy_only=False)
