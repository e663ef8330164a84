"""Scoring of all kept rows of a corpus: a score is a table of one column, with the corpus' shards and rows."""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from weebill.corpus.table import (
    SHARDS,
    TableWriter,
    count_rows,
    read_batches,
    read_columns,
    read_schema,
    shard_name,
    shard_paths,
)
from weebill.errors import InputError
from weebill.experiment.scores import SCORES, Score
from weebill.files import content_hash, move_folder, unfinished_work
from weebill.replaceable import check_replaceable
from weebill.workflow.progress import counter

log = logging.getLogger(__name__)

# Function from the texts of a score's sides, each (rows,), to scores (rows,).
Scorer = Callable[..., np.ndarray]
BATCH_ROWS = 8192


def score_corpus(
    corpus: str | Path,
    output: str | Path,
    score: Score,
    scorer: Scorer,
    made_by: Mapping[str, Any],
    beside: Mapping[str, str | Path] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> None:
    """Write the folder `output`, with one shard of scores for each shard of the corpus; dropped rows have none.

    Finished shards are kept in `OUTPUT.work`, so that a killed job continues there and writes the same bytes.
    made_by: everything else that the scores depend on (models, code), as JSON values.
    beside: tables of other scores by their names in SCORES, whose values (rows,) are keyword arguments of the scorer.
    Raises InputError if a kept row lacks a side, its score is not a number, or the rows of the tables differ.
    """
    check_replaceable(output, SHARDS)
    beside = beside or {}
    for table in beside.values():
        check_shards(table, corpus)
    identity = {"corpus": content_hash(corpus), "score": score.column, "made_by": dict(made_by)}
    identity["beside"] = {name: content_hash(table) for name, table in beside.items()}
    shards = {name: shard_paths(table) for name, table in beside.items()}
    rows = [count_rows(shard, kept=False) for shard in shard_paths(corpus)]
    with unfinished_work(output, identity) as work:
        for number, shard in enumerate(shard_paths(corpus)):
            path = work / "scores" / shard_name(number)
            if not path.exists():
                others = {name: read_score(paths[number], name) for name, paths in shards.items()}
                progress = counter(sum(rows), "rows", sum(rows[:number]))
                score_shard(shard, path, score, scorer, others, batch_rows, progress)
        move_folder(work / "scores", output, SHARDS)


def check_shards(scores: str | Path, corpus: str | Path) -> None:
    """Raise InputError if a score's table and the corpus have different numbers of shards, or of rows in a shard."""
    shards, found = shard_paths(corpus), shard_paths(scores)
    if len(found) != len(shards):
        raise InputError(
            f"{scores}: has {len(found)} shards where {corpus} has {len(shards)}; delete this folder and "
            "run again"
        )
    for shard, scored in zip(shards, found, strict=True):
        rows, values = count_rows(shard, kept=False), count_rows(scored, kept=False)
        if rows != values:
            raise InputError(
                f"{scored}: has {values:,} rows where {shard} has {rows:,}; "
                f"delete {scores} and run again"
            )


def read_score(table: str | Path, name: str) -> np.ndarray:
    """Read the values (rows,) of a score by its name in SCORES; NaN for rows without a score."""
    column = SCORES[name].column
    return read_columns(table, [column], kept=False)[column].to_numpy()


def score_shard(
    shard: Path,
    path: Path,
    score: Score,
    scorer: Scorer,
    beside: Mapping[str, np.ndarray] | None = None,
    batch_rows: int = BATCH_ROWS,
    progress: Callable[[int], None] = lambda rows: None,
) -> None:
    """Write the scores of a shard's kept rows, null for other rows, to `path`.

    progress: called with the number of rows of each finished batch.  Raises the same errors as `score_corpus`.
    """
    marks = [name for name in read_schema(shard).names if name == "dropped_by"]
    start, first, scored = time.monotonic(), 0, 0
    with TableWriter(path, pa.schema({score.column: pa.float64()})) as writer:
        for batch in read_batches(shard, [*score.sides, *marks], kept=False, rows=batch_rows):
            kept = np.flatnonzero(kept_rows(batch))
            texts = [batch.column(side).take(pa.array(kept)) for side in score.sides]
            for side, text in zip(score.sides, texts, strict=True):
                if text.null_count:
                    message = f"{shard}: a kept row has no {side}, which {score.column} reads"
                    raise InputError(message)
            values = np.full(batch.num_rows, np.nan)
            if len(kept):
                others = {name: column[first + kept] for name, column in (beside or {}).items()}
                values[kept] = scorer(*(text.to_pylist() for text in texts), **others)
            first += batch.num_rows
            if not np.isfinite(values[kept]).all():
                message = f"{shard}: {score.column} of a row is not a number; check its model"
                raise InputError(message)
            column = pa.array(values, from_pandas=True)  # NaN becomes null
            writer.write(pa.table({score.column: column}))
            scored += len(kept)
            progress(batch.num_rows)
    speed = scored / max(time.monotonic() - start, 1e-9)
    log.info("%s: %s of %s rows scored, %.0f a second", shard, scored, writer.rows, speed)


def kept_rows(batch: pa.RecordBatch) -> np.ndarray:
    """Return the rows, (rows,) bool, that no filter has dropped; all rows if there is no column `dropped_by`."""
    if "dropped_by" not in batch.schema.names:
        return np.ones(batch.num_rows, bool)
    return batch.column("dropped_by").is_null().to_numpy(zero_copy_only=False)
