"""Corpus for distilled metrics: pairs, each source translated several times and scored (COMETINHO §5)."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import torch

from weebill.corpus.sampling import draw_rows
from weebill.corpus.table import (
    SCHEMA,
    TableWriter,
    count_rows,
    read_batches,
    read_columns,
    read_schema,
    shard_name,
    write_table,
)
from weebill.errors import InputError
from weebill.files import content_hash, unfinished_work
from weebill.metric.ensemble import Ensemble
from weebill.metric.training_table import SCHEMA as SCORED
from weebill.metric.training_table import TEXTS
from weebill.text_files import read_lines
from weebill.workflow.code_version import code_of_module
from weebill.workflow.progress import counter
from weebill_runtime.names import SIDES

BATCH = 65_536
PART_ROWS = 10_000  # rows between two checkpoints
TUPLES = pa.schema(dict.fromkeys(TEXTS, pa.string()))


def select_pairs(
    name: str, entry: Mapping[str, Any], seed: int, output: Path, training: Path, validation: Path
) -> None:
    """Write a corpus of pairs, and separate ones for training and validating the translators.

    entry: `table` of a translation experiment, or `source` and `target`, files of lines.  Optional keys: `bicleaner`,
    the smallest score; `rows`, the number of pairs drawn at random; `translators`, whose `rows` and `validation` are
    the numbers of these pairs that go to the translators.
    Raises InputError if a score is missing, line counts differ, pairs repeat, or no pair is left to translate.
    """
    batches = _of_table(entry) if "table" in entry else _of_files(name, entry)
    rows = draw_rows(batches, entry.get("rows", 2**62), seed)
    apart = entry["translators"]
    first, second = apart["rows"], apart["rows"] + apart["validation"]
    count = 0 if rows is None else rows.num_rows
    if count <= second:
        raise InputError(
            f"distillation.pairs.{name}: {count:,} pairs, of which translators learn from {second:,}: none is left "
            "to translate; give more text, or lower `translators` or `bicleaner`"
        )
    if rows.group_by(["corpus", "row"]).aggregate([]).num_rows < count:
        raise InputError(
            f"distillation.pairs.{name}.table: {entry['table']} has two pairs of one `corpus` and `row`, by which "
            "their translations are found; number its rows anew"
        )
    write_table(output, rows.slice(second))
    write_table(training, rows.slice(0, first))
    write_table(validation, rows.slice(first, apart["validation"]))


def _of_table(entry: Mapping[str, Any]) -> Iterator[pa.Table]:
    path, least = entry["table"], entry.get("bicleaner")
    columns = ["source", "target", "corpus", "row"]
    if least is not None:
        if "bicleaner" not in read_schema(path).names:
            message = f"{path}: no column 'bicleaner'; score the corpus by bicleaner, or leave out `bicleaner`"
            raise InputError(message)
        columns.append("bicleaner")
    for batch in read_batches(path, columns):
        rows = pa.table(batch)
        if least is not None:
            rows = rows.filter(pc.greater_equal(rows["bicleaner"], least))
        yield _kept(rows)


def _of_files(name: str, entry: Mapping[str, Any]) -> Iterator[pa.Table]:
    source, target = (list(read_lines(entry[side])) for side in SIDES)
    if len(source) != len(target):
        raise InputError(
            f"distillation.pairs.{name}: {entry['source']} has {len(source):,} lines and {entry['target']} has "
            f"{len(target):,}; the sides must have one line per pair"
        )
    rows = {"source": source, "target": target, "corpus": [name] * len(source)}
    rows["row"] = range(len(source))
    yield _kept(pa.table(rows, SCHEMA.remove(SCHEMA.get_field_index("dropped_by"))))


def _kept(rows: pa.Table) -> pa.Table:
    """Return the rows with text on both sides, in the columns of a corpus."""
    for side in SIDES:
        rows = rows.filter(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(rows[side])), 0))
    rows = rows.append_column("dropped_by", pa.nulls(rows.num_rows, pa.string()))
    return rows.select(SCHEMA.names).cast(SCHEMA)


def join_translations(
    pairs: str | Path, translated: Sequence[tuple[str | Path, str]], output: str | Path
) -> None:
    """Write a row (src, mt, ref) for each pair and each of its different translations.

    translated: tables of merged translations, each with its column of translations; rows with an empty translation
    may be missing.  Raises InputError if a table has a row that belongs to no pair, or nothing is written.
    """
    found = read_columns(pairs, ["source", "target", "corpus", "row"])
    sources, references, *keys = (one.to_pylist() for one in found.columns)
    several: dict[tuple, dict[str, None]] = {key: {} for key in zip(*keys, strict=True)}
    for path, column in translated:
        for batch in read_batches(path, [column, "corpus", "row"]):
            for text, *key in zip(*(one.to_pylist() for one in batch.columns), strict=True):
                if tuple(key) not in several:
                    raise InputError(
                        f"{path}: row {key[1]} is none of {pairs}; delete this table and run again"
                    )
                several[tuple(key)][text] = None
    rows = [
        (source, translation, reference)
        for source, reference, own in zip(sources, references, several.values(), strict=True)
        for translation in own
    ]
    if not rows:
        raise InputError(f"{output}: no translation is left; look at the translators")
    with TableWriter(output, TUPLES) as writer:
        for start in range(0, len(rows), BATCH):
            columns = zip(*rows[start : start + BATCH], strict=True)
            writer.write(pa.table([pa.array(one) for one in columns], TUPLES.names))


def score_tuples(
    corpus: str | Path, models: Sequence[str], precision: str, device: str, output: str | Path
) -> None:
    """Write the rows (src, mt, ref) of a table with the mean score of some metrics.

    Parts of a killed run in `OUTPUT.work` are reused.  Raises the errors of `load_metric` and `Scorer`.
    """
    ensemble = Ensemble(models, precision, device)
    identity = {
        "corpus": content_hash(corpus),
        "models": ensemble.sha256,
        "precision": ensemble.precision,
        "device": device,
        "threads": torch.get_num_threads(),  # the order of sums
        "torch": torch.__version__,
        "code": code_of_module(__name__),
    }
    with unfinished_work(output, identity) as work:
        parts, progress = [], counter(count_rows(corpus), "segments")
        for number, rows in enumerate(read_batches(corpus, TUPLES.names, rows=PART_ROWS)):
            parts.append(work / shard_name(number))
            if not parts[-1].exists():
                sources, translations, references = (one.to_pylist() for one in rows.columns)
                scores = ensemble.score({"": translations}, sources, references)[""]
                scored = pa.table(rows).append_column("score", pa.array(scores))
                write_table(parts[-1], scored)
                logging.info("%s: part %d is scored", corpus, number)
            progress(rows.num_rows)
        with TableWriter(output, SCORED) as writer:
            for part in parts:
                for rows in read_batches(part):
                    writer.write(rows)
