"""Text of a corpus after each stage of cleaning, from one table: `dropped_by` names what dropped a row first."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.cleaning.filters.counts import empty
from weebill.corpus.cleaning.filters.held_out import test_overlap
from weebill.corpus.cleaning.normalise import normalise
from weebill.corpus.cleaning.overlap import HeldOut
from weebill.corpus.cleaning.pairs import Context, Pairs
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.table import TableWriter, read_batches, read_schema
from weebill.errors import InputError
from weebill.experiment.corpora import SIDES
from weebill.experiment.scores import SCORES

# `none`: all rows except those with an empty side or a side of a test set, whichever filter dropped them.
# `rules`: the rows that the filters leave, before the scores.
# `scores`: the rows that filters and scores leave.
# `weights`: the rows of `scores`, with the weights that a score gives.
STAGES = ("none", "rules", "scores", "weights")
_TEXT = ("source", "target", "corpus", "row")
_SCHEMA = pa.schema(
    [
        pa.field("source", pa.string()),
        pa.field("target", pa.string()),
        pa.field("corpus", pa.string()),
        pa.field("row", pa.int64()),
        pa.field("noise", pa.string()),  # kind of injected damage
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

    corpora: tables written by selection or, if there are no scores, by cleaning, with all rows.
    held_out: tables with sentences that are excluded from the stage `none`; the filters exclude them from the others.
    Memory depends on the held-out text, not on the corpora.  Raises InputError if no row is left.
    """
    context = Context(Rules(), held_out=HeldOut(held_out, SIDES, languages))
    weight = pa.field("weight", pa.float64())
    schema = _SCHEMA.append(weight) if stage == "weights" else _SCHEMA
    with TableWriter(output, schema) as writer:
        for corpus in corpora:
            for rows in _rows(corpus, stage, languages, context):
                columns = [
                    rows[field.name].cast(field.type)
                    if field.name in rows.column_names
                    else pa.nulls(rows.num_rows, field.type)
                    for field in schema
                ]
                writer.write(pa.table(columns, schema=schema))
        if not writer.rows:
            raise InputError(f"{output}: the stage '{stage}' leaves no pair; look at the cleaning")


def _learnable(batch: pa.RecordBatch, languages: tuple[str, str], context: Context) -> pa.Array:
    """Return the rows, bool, with text on both sides and no side of a test set, by the filters of cleaning."""
    sides = tuple(
        normalise([text or "" for text in batch.column(side).to_pylist()], language)
        for side, language in zip(SIDES, languages, strict=True)
    )
    pairs = Pairs.measured(sides, languages, np.zeros(batch.num_rows, np.uint8))
    return pa.array(~(empty(pairs, context) | test_overlap(pairs, context)))


def _rows(
    corpus: str | Path, stage: str, languages: tuple[str, str], context: Context
) -> Iterator[pa.Table]:
    names = [
        *_TEXT,
        "dropped_by",
        *(name for name in ("noise", "weight") if name in read_schema(corpus).names),
    ]
    for batch in read_batches(corpus, names, kept=False):
        dropped = batch.column("dropped_by")
        kept = pc.is_null(dropped)
        if stage == "none":
            kept = _learnable(batch, languages, context)
        elif stage == "rules":
            kept = pc.or_(kept, pc.is_in(dropped, pa.array([*SCORES])))
        yield pa.table(batch.filter(kept))
