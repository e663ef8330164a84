"""Interpolated sequence-level distillation (Kim & Rush 2016).

A corpus is split into shards; the teacher translates each into an n-best table; of parallel text the
hypothesis closest to the reference is selected, of monolingual text the most probable one; the shards of
all corpora are verified against the corpora and merged into the students' training table.
Text of the target language alone is translated back in the same way by a reverse teacher, whose translations
become the source side (WMT21 §3); what is said of sources below then holds for its targets.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.table import TableWriter, count_rows, read_batches, read_schema, write_table
from weebill.errors import InputError
from weebill.experiment.corpora import Side
from weebill.files import read_json, remove_folder, sha256_file, write_json
from weebill.translation.search import Cut, SearchOptions
from weebill.translation.search.cuts import count_line
from weebill.translation.sentence_bleu import best_hypothesis
from weebill.translation.translator import TextTranslator

log = logging.getLogger(__name__)

SPLIT_SCHEMA = pa.schema(
    [
        pa.field("corpus", pa.string()),
        pa.field("row", pa.int64()),
        pa.field("source", pa.string()),  # what is translated, of either side of the corpus
        pa.field("target", pa.string()),  # the reference; null in monolingual text
    ]
)
NBEST_SCHEMA = pa.schema(
    [
        *SPLIT_SCHEMA,
        pa.field("hypotheses", pa.list_(pa.string())),  # best first
        pa.field("scores", pa.list_(pa.float64())),  # log p / length^length_normalisation
        pa.field("selected", pa.int32()),  # the hypothesis that students learn
    ]
)
CUTS = "cuts.json"  # how many sentences of each chunk were cut, in a job's folder of work
MERGED_COLUMNS = ("source", "target", "corpus", "row")


def shard_bounds(rows: int, shards: int) -> list[int]:
    """Where each shard of a corpus begins, and where the last ends: row i is in shard i·shards // rows."""
    return [-(-shard * rows // shards) for shard in range(shards + 1)]


def split_corpus(
    corpus: str | Path, shards: Sequence[str | Path], parallel: bool, side: Side = "source"
) -> None:
    """Write the kept rows of a corpus as shards; references are left out where not `parallel`.

    side: which is translated; of monolingual text perhaps the target.
    Raises InputError where a kept row of parallel text has no reference.
    """
    bounds = shard_bounds(count_rows(corpus), len(shards))
    columns = ["corpus", "row", side, *(["target"] if parallel else [])]
    rows = _Rows(corpus, columns, {side: "source"})
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


def translate_shard(
    shard: str | Path,
    output: str | Path,
    translator: TextTranslator,
    search: SearchOptions,
    made_by: Mapping[str, Any],
    language: str = "",
    chunk_rows: int = 4096,
) -> None:
    """Translate a shard into its n-best table, with the selected hypothesis of each row.

    Chunks of rows are kept in OUTPUT.work until all are done, so that a killed job goes on where it
    was, to the same result.  made_by: what else the result depends on (model hashes, code), as JSON
    values; chunks made by something else, or of another shard, are made again.  language: of the references,
    whose tokens are compared.
    How many sentences are cut (`search.max_source_tokens`) is logged in one line at the end, those of killed jobs
    counted.
    """
    work = Path(f"{output}.work")
    signature = {
        "shard": sha256_file(shard),
        "search": asdict(search),
        "made_by": dict(made_by),
        "language": language,
    }
    if not (work / "signature.json").is_file() or read_json(work / "signature.json") != signature:
        if work.exists():
            remove_folder(work)
        work.mkdir(parents=True)
        write_json(work / "signature.json", signature)
    total, done, start = count_rows(shard), 0, time.monotonic()
    rows, chunks = _Rows(shard, SPLIT_SCHEMA.names), []
    cuts = read_json(work / CUTS) if (work / CUTS).is_file() else {}  # of each chunk
    for number, begin in enumerate(range(0, total, chunk_rows)):
        chunk = pa.Table.from_batches(rows.take(chunk_rows), SPLIT_SCHEMA)
        chunks.append(work / f"chunk-{number:05d}.parquet")
        if chunks[-1].is_file():
            continue
        found, cuts[str(number)] = _translate(chunk, translator, search, language)
        write_json(work / CUTS, cuts)  # before the chunk, which then is not made again
        write_table(chunks[-1], found)
        done += chunk.num_rows
        speed = done / (time.monotonic() - start)
        left = total - begin - chunk.num_rows
        log.info(
            "%s: %s of %s sentences, %.1f a second, %.0f s left",
            output, f"{total - left:,}", f"{total:,}", speed, left / speed,
        )  # fmt: skip
    if cut := sum(cuts.values()):
        log.warning("%s", count_line(str(shard), cut, total, search.max_source_tokens))
    with TableWriter(output, NBEST_SCHEMA) as writer:
        for chunk_path in chunks:
            for part in read_batches(chunk_path):
                writer.write(part)
    remove_folder(work)


def _translate(
    chunk: pa.Table, translator: TextTranslator, search: SearchOptions, language: str
) -> tuple[pa.Table, int]:
    """Return the n-best table of a chunk, and how many of its sentences were cut."""
    cuts: list[Cut] = []
    translator.on_cut = cuts.append
    found = translator.nbest(chunk["source"].to_pylist(), search)
    texts = [[hypothesis.text for hypothesis in hypotheses] for hypotheses in found]
    scores = [[hypothesis.score for hypothesis in hypotheses] for hypotheses in found]
    selected = [
        0 if reference is None else best_hypothesis(hypotheses, reference, language)
        for hypotheses, reference in zip(texts, chunk["target"].to_pylist(), strict=True)
    ]
    columns = [*chunk.columns, texts, scores, selected]
    table = pa.table(
        [
            column if isinstance(column, pa.ChunkedArray) else pa.array(column, field.type)
            for column, field in zip(columns, NBEST_SCHEMA, strict=True)
        ],
        schema=NBEST_SCHEMA,
    )
    return table, len(cuts)


@dataclass(frozen=True)
class Translated:
    """A corpus, the n-best tables of its shards in order, and which side was translated."""

    corpus: str | Path
    shards: Sequence[str | Path]
    side: Side = "source"


def merge(
    parts: Sequence[Translated], output: str | Path, may_be_empty: bool = False
) -> dict[str, int]:
    """Verify every shard against its corpus and write each row's text and selected translation as a pair.

    The table has columns source, target, corpus, row, and weight where a corpus has one (null where
    another has none).  Rows whose translation is empty are left out.  Returns rows read, written, empty.
    Raises InputError naming the shard where its rows are not exactly those of the corpus in order, or where no
    row is written unless it `may_be_empty`.
    """
    weighted = any("weight" in read_schema(part.corpus).names for part in parts)
    read = 0
    with TableWriter(output, _merged_schema(weighted)) as writer:
        for part in parts:
            for rows in _verified(part, weighted):
                read += rows.num_rows
                rows = rows.filter(_not_empty(rows["target"]))
                if part.side == "target":
                    swapped = {"source": "target", "target": "source"}
                    rows = rows.rename_columns([swapped.get(n, n) for n in rows.column_names])
                writer.write(rows)
        written = writer.rows
    if not written and not may_be_empty:
        raise InputError(f"{output}: no translation is left to train on; look at the cleaning")
    return {"read": read, "written": written, "empty": read - written}


def join(tables: Sequence[str | Path], output: str | Path) -> None:
    """Write the kept rows of merged tables one after the other, with the columns that `merge` writes.

    Raises InputError where no row is left.
    """
    weighted = any("weight" in read_schema(table).names for table in tables)
    with TableWriter(output, _merged_schema(weighted)) as writer:
        for table in tables:
            has_weight = "weight" in read_schema(table).names
            for batch in read_batches(table, [*MERGED_COLUMNS, *(["weight"] * has_weight)]):
                rows = pa.table(batch)
                if weighted and not has_weight:
                    rows = rows.append_column("weight", pa.nulls(rows.num_rows, pa.float64()))
                writer.write(rows)
        if not writer.rows:
            raise InputError(f"{output}: no translation is left; drop less by distillation.scores")


def _merged_schema(weighted: bool) -> pa.Schema:
    fields = [pa.field(name, SPLIT_SCHEMA.field(name).type) for name in MERGED_COLUMNS]
    return pa.schema([*fields, *([pa.field("weight", pa.float64())] if weighted else [])])


def _verified(part: Translated, weighted: bool) -> Iterator[pa.Table]:
    """The rows of a corpus in order: what was translated as source, the selected translation as target."""
    has_weight = "weight" in read_schema(part.corpus).names
    columns = [part.side, "corpus", "row", *(["weight"] * has_weight)]
    expected_rows = _Rows(part.corpus, columns, {part.side: "source"})
    bounds = shard_bounds(count_rows(part.corpus), len(part.shards))
    sizes = [end - begin for begin, end in pairwise(bounds)]
    for shard, size in zip(part.shards, sizes, strict=True):
        if (found := count_rows(shard)) != size:
            raise InputError(
                f"{shard}: has {found:,} rows where its part of {part.corpus} has {size:,}; "
                "delete this shard and run again"
            )
        for batch in read_batches(shard, NBEST_SCHEMA.names):
            expected = pa.Table.from_batches(expected_rows.take(batch.num_rows))
            _check_rows(shard, pa.table(batch), expected)
            rows = expected.append_column("target", _selected(shard, batch))
            if weighted and not has_weight:
                rows = rows.append_column("weight", pa.nulls(rows.num_rows, pa.float64()))
            yield rows


def _check_rows(shard: str | Path, found: pa.Table, expected: pa.Table) -> None:
    for column in ("corpus", "row", "source"):
        if found[column].equals(expected[column]):
            continue
        pairs = zip(found[column].to_pylist(), expected[column].to_pylist(), strict=True)
        place = next(i for i, (one, other) in enumerate(pairs) if one != other)
        row, wanted = (table["row"][place].as_py() for table in (found, expected))
        fault = (
            f"row {row} of the corpus stands where row {wanted} belongs"
            if row != wanted
            else f"row {row}: {column} is not that of the corpus"
        )
        raise InputError(f"{shard}: {fault}; delete this shard and run again")


def _selected(shard: str | Path, batch: pa.RecordBatch) -> pa.Array:
    """The selected hypothesis of each row.  Raises InputError where there is none."""
    hypotheses = batch.column("hypotheses")
    selected = batch.column("selected").to_numpy(zero_copy_only=False)
    counts = hypotheses.value_lengths().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(~((selected >= 0) & (selected < counts)))
    if len(wrong):
        row = batch.column("row")[int(wrong[0])].as_py()
        raise InputError(f"{shard}: row {row} has no translation; delete this shard and run again")
    starts = hypotheses.offsets.to_numpy()[:-1]
    return hypotheses.values.take(pa.array(starts + selected, pa.int64()))


def _not_empty(text: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(text)), 0)


class _Rows:
    """The kept rows of a table, taken in order in pieces of any size; names: columns' new names."""

    def __init__(
        self, path: str | Path, columns: Sequence[str], names: Mapping[str, str] | None = None
    ) -> None:
        names = names or {}
        renamed = [names.get(column, column) for column in columns]
        self._batches = (batch.rename_columns(renamed) for batch in read_batches(path, columns))
        self._rest: pa.RecordBatch | None = None

    def take(self, count: int) -> Iterator[pa.RecordBatch]:
        """The next `count` rows, or what is left."""
        while count > 0:
            batch = self._rest if self._rest is not None else next(self._batches, None)
            if batch is None:
                return
            part, rest = batch.slice(0, count), batch.slice(count)
            self._rest = rest if rest.num_rows else None
            count -= part.num_rows
            yield part
