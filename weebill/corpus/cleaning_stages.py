"""Text of a corpus after each stage of cleaning; the column `dropped_by` of one table determines all stages."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.cleaning.clean import Cleaning
from weebill.corpus.cleaning.filters.counts import empty
from weebill.corpus.cleaning.overlap import HeldOut, test_overlap
from weebill.corpus.cleaning.pairs import Context, Pairs
from weebill.corpus.table import SCHEMA, TableWriter, read_batches, read_schema
from weebill.errors import InputError
from weebill.experiment.scores import SCORES
from weebill_runtime.names import SIDES

# `none`: all rows except those with an empty side or a side of a test set; verdicts of filters are ignored.
# `rules`: the rows that the filters keep, before the scores.
# `scores`: the rows that filters and scores keep.
# `weights`: the same rows as `scores`, with the weights that a score gives.
STAGES = ("none", "rules", "scores", "weights")
_TEXT = ("source", "target", "corpus", "row")
_SCHEMA = pa.schema([*map(SCHEMA.field, _TEXT), ("noise", pa.string())])  # kind of injected damage


def write_stage(
    corpora: Sequence[str | Path],
    stage: str,
    output: str | Path,
    languages: tuple[str, str],
    held_out: Sequence[str | Path] = (),
    cleanings: Sequence[Cleaning] | None = None,
) -> None:
    """Write the pairs of parallel corpora that a stage keeps.

    corpora: tables written by selection or, if there are no scores, by cleaning, with all rows.
    held_out: tables with sentences that are excluded from the stage `none`; the filters exclude them from the others.
    cleanings: the cleaning of each corpus, which also prepares held-out sentences; None: the default.
    Memory depends on the held-out text, not on the corpora.  Raises InputError if no row is left.
    """
    schema = _SCHEMA
    if stage == "weights":
        schema = _SCHEMA.append(pa.field("weight", pa.float64()))
    with TableWriter(output, schema) as writer:
        for corpus, cleaning in zip(corpora, cleanings or [Cleaning()] * len(corpora), strict=True):
            sentences = HeldOut(held_out, SIDES, languages, cleaning.prepared)
            context = Context(cleaning.rules, held_out=sentences)
            present = [name for name in schema.names if name in read_schema(corpus).names]
            for batch in read_batches(corpus, [*present, "dropped_by"], kept=False):
                rows = pa.table(batch.filter(_left(batch, stage, languages, context)))
                for name in schema.names:
                    if name not in present:
                        rows = rows.append_column(name, pa.nulls(rows.num_rows))
                writer.write(rows)
        if not writer.rows:
            raise InputError(f"{output}: the stage '{stage}' leaves no pair; look at the cleaning")


def _left(
    batch: pa.RecordBatch, stage: str, languages: tuple[str, str], context: Context
) -> pa.Array:
    """Return the rows, bool, that a stage keeps; `none` keeps rows that have both sides and no side of a test set."""
    dropped = batch.column("dropped_by")
    if stage == "rules":
        return pc.or_(pc.is_null(dropped), pc.is_in(dropped, pa.array([*SCORES])))
    if stage != "none":
        return pc.is_null(dropped)
    sides = tuple([text or "" for text in batch.column(side).to_pylist()] for side in SIDES)
    pairs = Pairs(sides, languages, np.zeros(batch.num_rows, np.uint8))
    return pa.array(~(empty(pairs, context) | test_overlap(pairs, context)))
