"""Split of a corpus into shards, which separate jobs translate."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from weebill.corpus.table import TableWriter, count_rows
from weebill.errors import InputError
from weebill.experiment.corpora import Side
from weebill.translation.distillation.tables import SPLIT_SCHEMA, Rows, shard_bounds


def split_corpus(
    corpus: str | Path, shards: Sequence[str | Path], parallel: bool, side: Side = "source"
) -> None:
    """Write the kept rows of a corpus as shards, with references if it is `parallel`.

    side: the side to translate; for monolingual text this may be the target.
    Raises InputError if a kept row of parallel text has no reference.
    """
    bounds = shard_bounds(count_rows(corpus), len(shards))
    columns = ["corpus", "row", side, *(["target"] if parallel else [])]
    rows = Rows(corpus, columns, {side: "source"})
    for path, (begin, end) in zip(shards, pairwise(bounds), strict=True):
        with TableWriter(path, SPLIT_SCHEMA) as writer:
            for part in rows.take(end - begin):
                if not parallel:
                    part = part.append_column("target", pa.nulls(part.num_rows, pa.string()))
                elif part["target"].null_count:
                    raise InputError(
                        f"{corpus}: a row has no target; declare this corpus `use: monolingual`"
                    )
                writer.write(part)
