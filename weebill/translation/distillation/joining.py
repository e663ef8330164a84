"""Concatenation of merged tables, without the rows that scores dropped."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from weebill.corpus.table import TableWriter, read_batches, read_schema
from weebill.errors import InputError
from weebill.translation.distillation.tables import MERGED_COLUMNS, merged_schema


def join(tables: Sequence[str | Path], output: str | Path) -> None:
    """Write the kept rows of merged tables one after the other, with the columns that `merge` writes.

    Raises InputError if no row is left.
    """
    weighted = any("weight" in read_schema(table).names for table in tables)
    with TableWriter(output, merged_schema(weighted)) as writer:
        for table in tables:
            has_weight = "weight" in read_schema(table).names
            for batch in read_batches(table, [*MERGED_COLUMNS, *(["weight"] * has_weight)]):
                rows = pa.table(batch)
                if weighted and not has_weight:
                    rows = rows.append_column("weight", pa.nulls(rows.num_rows, pa.float64()))
                writer.write(rows)
        if not writer.rows:
            raise InputError(f"{output}: no translation is left; drop less by distillation.scores")
