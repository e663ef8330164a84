"""Parallel text with its sides swapped, for training in the reverse direction."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from weebill.corpus.table import TableWriter, read_batches

_SCHEMA = pa.schema([pa.field("source", pa.string()), pa.field("target", pa.string())])


def reverse(tables: Iterable[str | Path], output: str | Path) -> None:
    """Write the kept pairs of some tables as one table with source and target exchanged."""
    with TableWriter(output, _SCHEMA) as writer:
        for table in tables:
            for batch in read_batches(table, ["source", "target"]):
                source, target = batch.columns
                writer.write(pa.table({"source": target, "target": source}))
