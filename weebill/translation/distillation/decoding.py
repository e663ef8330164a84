"""Translation of a shard by the teacher into an n-best table, with a selected hypothesis of each row."""

import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa

from weebill.ahead import called_ahead
from weebill.corpus.table import RowReader, TableWriter, count_rows, read_batches, write_table
from weebill.files import read_json, sha256_file, unfinished_work, write_json
from weebill.translation.distillation.selection import select
from weebill.translation.distillation.shards import NBEST_SCHEMA, SPLIT_SCHEMA
from weebill.worker_processes import worker_processes
from weebill.workflow.progress import counter
from weebill_runtime.options import Cut, SearchOptions, log_cut_count
from weebill_runtime.text_translator import Progress, TextTranslator

CUTS = "cuts.json"  # number of cut sentences of each chunk; a file in the job's work folder
AHEAD = 3  # chunks in work: one is searched, one divided into pieces, and of one the hypotheses are selected


def translate_shard(
    shard: str | Path,
    output: str | Path,
    translator: TextTranslator,
    search: SearchOptions,
    made_by: Mapping[str, Any],
    language: str = "",
    chunk_rows: int = 4096,
    workers: int = 0,
) -> None:
    """Translate a shard into its n-best table, with the selected hypothesis of each row.

    OUTPUT.work keeps finished chunks of rows until all are done, so that a killed job continues to the same result.
    made_by: JSON values for everything else that the result depends on (model hashes, code); chunks with other values
    are made again.  language: that of the references, which selects the tokenizer.  Logs the number of cut sentences.
    workers: processes that select hypotheses, while threads prepare and search the next chunks, for a GPU; 0: this
    process does one thing after another, for a search that needs all cores.
    """
    identity = {"shard": sha256_file(shard), "search": asdict(search), "language": language}
    with (
        unfinished_work(output, {**identity, "made_by": dict(made_by)}) as work,
        worker_processes(workers) if workers else nullcontext() as pool,
    ):
        total, start = count_rows(shard), time.monotonic()
        chunks = [work / f"chunk-{n:05d}.parquet" for n in range(math.ceil(total / chunk_rows))]
        cuts = read_json(work / CUTS) if (work / CUTS).is_file() else {}  # by chunk
        told = counter(total, "sentences")
        teacher = _Teacher(translator, search, told)
        tasks = _missing(RowReader(shard, SPLIT_SCHEMA.names), chunks, chunk_rows, told)
        done = 0
        for number, chunk, found in called_ahead(teacher, tasks, AHEAD if workers else 1):
            references = chunk["target"].to_pylist()
            selected = select(found.texts, references, language, pool)
            cuts[str(number)] = found.cuts
            write_json(work / CUTS, cuts)  # before the chunk: a finished chunk is not made again
            write_table(chunks[number], _table(chunk, found, selected))
            done += chunk.num_rows
            speed = done / (time.monotonic() - start)
            left = max(0, total - number * chunk_rows - chunk.num_rows)
            logging.info(
                "%s: %s of %s sentences, %.1f a second, %.0f s left",
                output, f"{total - left:,}", f"{total:,}", speed, left / speed,
            )  # fmt: skip
        log_cut_count(str(output), sum(cuts.values()), total, search.max_source_tokens)
        with TableWriter(output, NBEST_SCHEMA) as writer:
            for chunk_path in chunks:
                for part in read_batches(chunk_path):
                    writer.write(part)


Task = tuple[int, pa.Table]  # number and rows of a chunk


@dataclass(frozen=True)
class _Found:
    """Hypotheses of a chunk's rows, their scores, and the number of cut sentences."""

    texts: list[list[str]]
    scores: list[list[float]]
    cuts: int


class _Teacher:
    """Function that translates a chunk, also in several threads."""

    def __init__(self, translator: TextTranslator, search: SearchOptions, progress: Progress):
        self._translator, self._search, self._progress = translator, search, progress
        self._turn = nullcontext() if translator.shareable else Lock()

    def __call__(self, task: Task) -> tuple[int, pa.Table, _Found]:
        number, chunk = task
        cuts: list[Cut] = []
        with self._turn:
            translator = self._translator.sharing(cuts.append)
            rows = translator.nbest(chunk["source"].to_pylist(), self._search, self._progress)
        texts = [[hypothesis.text for hypothesis in hypotheses] for hypotheses in rows]
        scores = [[hypothesis.score for hypothesis in hypotheses] for hypotheses in rows]
        return number, chunk, _Found(texts, scores, len(cuts))


def _missing(
    rows: RowReader, chunks: Sequence[Path], size: int, progress: Progress
) -> Iterator[Task]:
    """Yield the chunks that have no file yet."""
    for number, path in enumerate(chunks):
        chunk = pa.Table.from_batches(rows.take(size), SPLIT_SCHEMA)
        if path.is_file():
            progress(chunk.num_rows)
        else:
            yield number, chunk


def _table(chunk: pa.Table, found: _Found, selected: list[int]) -> pa.Table:
    columns = dict(zip(chunk.column_names, chunk.columns, strict=True))
    columns |= {"hypotheses": found.texts, "scores": found.scores, "selected": selected}
    return pa.table(columns, NBEST_SCHEMA)
