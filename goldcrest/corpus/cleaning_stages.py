"""A corpus as each stage of its cleaning leaves it, told from one table: `dropped_by` names what took a row first."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldcrest.corpus.cleaning.normalise import folded, normalise
from goldcrest.corpus.cleaning.overlap import HeldOut
from goldcrest.corpus.scores.registry import SCORES
from goldcrest.corpus.table import TableWriter, read_batches, read_schema
from goldcrest.errors import InputError

# `none`: all rows but empty ones, which no model learns from, and those of test sets, whatever took them first.
# `rules`: without the scores.
# `weights`: rows as after the scores, with the weights that a score gives.
STAGES = ("none", "rules", "scores", "weights")
_TEXT = ("source", "target", "corpus", "row")
_SCHEMA = pa.schema(
    [
        pa.field("source", pa.string()),
        pa.field("target", pa.string()),
        pa.field("corpus", pa.string()),
        pa.field("row", pa.int64()),
        pa.field("noise", pa.string()),  # the damage that was done on purpose
    ]
)


def write_stage(
    corpora: Sequence[str | Path],
    stage: str,
    output: str | Path,
    languages: tuple[str, str],
    held_out: Sequence[str | Path] = (),
) -> None:
    """Write the pairs that a stage leaves of parallel corpora.

    corpora: as selection or, without scores, cleaning left them, with all their rows.  held_out: tables whose
    sentences no stage may learn.
    Memory is that of the held-out text, not of the corpora.  Raises InputError where no row is left.
    """
    learnable = _Learnable(held_out, languages) if stage == "none" else None
    weight = pa.field("weight", pa.float64())
    schema = _SCHEMA.append(weight) if stage == "weights" else _SCHEMA
    with TableWriter(output, schema) as writer:
        for corpus in corpora:
            for rows in _rows(corpus, stage, learnable):
                columns = [
                    rows[field.name].cast(field.type)
                    if field.name in rows.column_names
                    else pa.nulls(rows.num_rows, field.type)
                    for field in schema
                ]
                writer.write(pa.table(columns, schema=schema))
        if not writer.rows:
            raise InputError(f"{output}: the stage '{stage}' leaves no pair; look at the cleaning")


class _Learnable:
    """Pairs that have text on both sides, none of it of a test set."""

    def __init__(self, held_out: Sequence[str | Path], languages: tuple[str, str]) -> None:
        self._languages = languages
        self._keys = HeldOut(held_out, ("source", "target"), languages).keys

    def __call__(self, batch: pa.RecordBatch) -> np.ndarray:
        """(rows,) bool."""
        kept = np.ones(batch.num_rows, bool)
        for side, keys, language in zip(
            ("source", "target"), self._keys, self._languages, strict=True
        ):
            texts = [text or "" for text in batch.column(side).to_pylist()]
            found = folded(normalise(texts, language))
            kept &= [
                bool(text.strip()) and key not in keys
                for text, key in zip(texts, found, strict=True)
            ]
        return kept


def _rows(corpus: str | Path, stage: str, learnable: _Learnable | None) -> Iterator[pa.Table]:
    names = [
        *_TEXT,
        "dropped_by",
        *(name for name in ("noise", "weight") if name in read_schema(corpus).names),
    ]
    for batch in read_batches(corpus, names, kept=False):
        dropped = batch.column("dropped_by")
        kept = pc.is_null(dropped)
        if learnable is not None:
            kept = pa.array(learnable(batch))
        elif stage == "rules":
            kept = pc.or_(kept, pc.is_in(dropped, pa.array([*SCORES])))
        yield pa.table(batch.filter(kept))
