"""Augmentation of training text, so that a student handles users' text: case, typos, missing breaks, rare tokens.

The kinds are those of OpusTrainer's modifiers (Bogoychev et al. 2023).  The changes of a row depend only on the seed
and on the row's corpus and number, not on other rows.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from weebill.corpus.cleaning.writing_systems import count_words
from weebill.corpus.robustness import KINDS, Augmentation, changes_by_kind
from weebill.corpus.table import AUGMENTED_BY, TableWriter, read_batches, read_schema
from weebill_runtime.names import SIDES
from weebill_runtime.unspaced import join_sentences


def augment_table(
    table: str | Path,
    output: str | Path,
    augmentation: Augmentation,
    languages: Mapping[str, str],
    seed: int,
) -> dict[str, int]:
    """Write the kept rows of a training text, then the changed copies; return their number by kind.

    The column `augmented_by` is the kind of a copy, and null for the original rows.  Copies equal to their row are
    not written.  languages: codes by side.  Memory does not depend on the number of rows.
    """
    given = read_schema(table)
    names = ("source", "target", "corpus", "row", "weight")
    columns = [name for name in names if name in given.names or name != "weight"]
    schema = pa.schema([*map(given.field, columns), (AUGMENTED_BY, pa.string())])
    counts: Counter[str] = Counter()
    with TableWriter(output, schema) as writer:
        for batch in read_batches(table, columns):
            writer.write(pa.table(batch).append_column(AUGMENTED_BY, pa.nulls(batch.num_rows)))
        for copies in _copies(read_batches(table, columns), augmentation, languages, seed):
            writer.write(pa.Table.from_pylist(copies, schema))
            counts.update(copy[AUGMENTED_BY] for copy in copies)
    return {kind: counts[kind] for kind in KINDS}


def _copies(
    batches: Iterator[pa.RecordBatch],
    augmentation: Augmentation,
    languages: Mapping[str, str],
    seed: int,
) -> Iterator[list[dict[str, Any]]]:
    """Yield the changed copies of each batch's rows; a merged row comes with its second part."""
    changes = changes_by_kind(languages)
    shares = np.array([getattr(augmentation, kind) for kind in KINDS])
    waiting: dict[str, Any] | None = None
    for batch in batches:
        # Random numbers (rows, kinds), which depend only on the row's corpus and number and the seed.
        rows = zip(*(batch.column(name).to_pylist() for name in ("corpus", "row")), strict=True)
        keys = (f"{seed} {corpus} {number}".encode() for corpus, number in rows)
        digests = b"".join(blake2b(key, digest_size=8 * len(KINDS)).digest() for key in keys)
        draws = np.frombuffer(digests, "<u8").reshape(-1, len(KINDS))
        chosen = (draws >> np.uint64(11)) * 2.0**-53 < shares  # (rows, kinds)
        looked_at = chosen.any(1)
        looked_at[1:] |= chosen[:-1, KINDS.index("merged")]
        looked_at[0] |= waiting is not None
        copies: list[dict[str, Any]] = []
        for index in np.flatnonzero(looked_at).tolist():
            [row] = batch.slice(index, 1).to_pylist()
            if waiting is not None:
                copies += _merged(waiting, row, augmentation.max_merged_words)
                waiting = None
            for kind, wanted, draw in zip(KINDS, chosen[index], draws[index], strict=True):
                if wanted and kind == "merged":
                    waiting = row
                elif wanted:
                    pair = (row["source"], row["target"])
                    sides = changes[kind](pair, random.Random(int(draw)))
                    if sides != pair:
                        changed = dict(zip(SIDES, sides, strict=True))
                        copies.append({**row, **changed, AUGMENTED_BY: kind})
        if copies:
            yield copies


def _merged(first: dict[str, Any], second: dict[str, Any], longest: int) -> list[dict[str, Any]]:
    """Join two rows; return no row if they belong to different corpora or are too long."""
    sides = {side: join_sentences([(first[side], " "), (second[side], "")]) for side in SIDES}
    if first["corpus"] != second["corpus"] or max(map(count_words, sides.values())) > longest:
        return []
    merged = {**first, **sides, AUGMENTED_BY: "merged"}
    if "weight" in first:
        weights = [1.0 if row["weight"] is None else row["weight"] for row in (first, second)]
        merged["weight"] = sum(weights) / 2
    return [merged]
