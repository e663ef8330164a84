"""Cleaning of a whole corpus: its shards are normalised, deduplicated and filtered, as a stream.

The steps have the order of WNGT20 §3 and WMT21 §2: normalise the text, find repeated pairs, apply each filter to the
rows that the earlier filters left.  Every finished shard is a file in the work folder, so that a killed run
continues there.
"""

import logging
import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import get_context, parent_process
from pathlib import Path

import numpy as np
import pyarrow as pa

from weebill.corpus.cleaning.deduplicate import Buckets, digests
from weebill.corpus.cleaning.filters import FILTERS, clean_batch
from weebill.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
from weebill.corpus.cleaning.normalise import normalise
from weebill.corpus.cleaning.overlap import HeldOut
from weebill.corpus.cleaning.pairs import Context, Pairs
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.table import (
    SHARDS,
    TableWriter,
    count_rows,
    read_batches,
    read_schema,
    shard_name,
    shard_paths,
)
from weebill.errors import InputError
from weebill.experiment.corpora import SIDES, Side
from weebill.files import atomic_path, move_folder, read_json, remove_folder, write_json
from weebill.replaceable import check_replaceable
from weebill.workflow.code_version import code_of_module

BATCH_ROWS = 4096  # small enough to keep the arrays of a batch in the processor's cache

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """Settings of the filters, and the files that they need."""

    rules: Rules = field(default_factory=Rules)
    language_id: LanguageId | None = None  # None: languages are not identified
    near_duplicates: bool = True  # also drop pairs whose folded text equals that of an earlier pair
    held_out: tuple[str, ...] = ()  # tables of test and validation sets


def clean_corpus(
    source: str | Path,
    output: str | Path,
    languages: tuple[str, str],
    cleaning: Cleaning,
    workers: int = 1,
) -> None:
    """Clean the table `source`, and write all its rows to the folder of shards `output`.

    The text columns hold the normalised text and `dropped_by` names the first filter that rejected a row.
    Filters see only the existing side of monolingual text (the other side is null).  Memory does not depend on the
    number of rows; during the work, a folder next to `output` takes about twice the disk space of the corpus.
    languages: codes of source and target, ISO 639-1.
    workers: number of processes, each with its own shards; the result does not depend on it.
    Raises InputError if a table or the model is missing or damaged, the script of a language is unknown, the model
    does not know a language, `source` mixes parallel and monolingual rows, no row is left, or a worker is killed.
    """
    check_replaceable(output, SHARDS)
    output = Path(output)
    shards = shard_paths(source)
    sides = _sides(shards)
    by_side = dict(zip(SIDES, languages, strict=True))
    judge = _Judge(cleaning, sides, tuple(by_side[side] for side in sides), _stamps(cleaning))
    judge.context()  # to report a bad model or table before the first pass, not after it
    work = _work_folder(output, [judge, [_stamp(shard) for shard in shards]])
    try:
        _clean_in(work, source, shards, judge, workers)
    except InputError:
        remove_folder(work)  # another run cannot use its contents
        raise
    except BrokenProcessPool as error:
        raise InputError(
            f"{source}: a process that cleaned a shard was killed, as happens where memory runs out; give "
            "the job more, or fewer `hardware.threads`, and run again; finished shards are kept"
        ) from error
    (
        work / "settings.json"
    ).unlink()  # after this line, another run cannot continue from the folder
    move_folder(work / "cleaned", output, SHARDS)
    remove_folder(work)


def _clean_in(
    work: Path,
    source: str | Path,
    shards: Sequence[Path],
    judge: "_Judge",
    workers: int,
) -> None:
    """Make the folder `cleaned` in the work folder; finished shards are kept."""
    counts = [count_rows(shard, kept=False) for shard in shards]
    starts = [sum(counts[:shard]) for shard in range(len(shards))]
    names = [shard_name(number) for number in range(len(shards))]

    repeats = work / "repeats"
    if not repeats.exists():
        buckets = Buckets(work / "buckets", sum(counts))
        tasks = zip(shards, names, starts, strict=True)
        _each(_normalise_shard, [(work, judge, buckets, *t) for t in tasks], workers)
        with atomic_path(repeats) as partial:
            buckets.find(partial)
        shutil.rmtree(work / "buckets")
    tasks = zip(names, starts, counts, strict=True)
    _each(_filter_shard, [(work, judge, *t) for t in tasks], workers)

    _refuse_nothing(source, work / "cleaned", sum(counts))


@dataclass(frozen=True)
class _Judge:
    """Settings and files that the filters need, in a form that can be sent to other processes."""

    cleaning: Cleaning
    sides: tuple[Side, ...]  # sides of the text
    languages: tuple[str, ...]  # their languages
    stamps: tuple  # paths, sizes and times of the files, so that a changed file is read again

    def context(self) -> Context:
        """Return the models and tables, which each process loads once."""
        return _context(self)


@lru_cache(maxsize=1)
def _context(judge: _Judge) -> Context:
    cleaning = judge.cleaning
    config = cleaning.language_id
    return Context(
        cleaning.rules,
        None if config is None else LanguageIdentifier(config, judge.languages),
        HeldOut(cleaning.held_out, judge.sides, judge.languages) if cleaning.held_out else None,
        cleaning.near_duplicates,
    )


def _stamps(cleaning: Cleaning) -> tuple:
    model = [] if cleaning.language_id is None else [Path(cleaning.language_id.model)]
    tables = [shard for table in cleaning.held_out for shard in shard_paths(table)]
    return tuple(_stamp(path) for path in [*model, *tables] if path.exists())


def _stamp(path: Path) -> tuple[str, int, int]:
    return str(path), path.stat().st_size, path.stat().st_mtime_ns


def _work_folder(output: Path, settings: list) -> Path:
    """Return the work folder of `output`; empty it if other inputs, settings or code made it."""
    work = output.with_name(f"{output.name}.work")
    made_from = {"settings": repr([*settings, code_of_module(__name__)])}
    if not (work / "settings.json").is_file() or read_json(work / "settings.json") != made_from:
        if work.exists():
            remove_folder(work)
        write_json(work / "settings.json", made_from)
    return work


def _refuse_nothing(source: str | Path, cleaned: Path, rows: int) -> None:
    """Raise InputError if no row is left; the message names the filter that dropped most rows."""
    if rows and not any(True for _ in read_batches(cleaned, ["row"])):
        columns = read_batches(cleaned, ["dropped_by"], kept=False)
        worst, dropped = Counter(
            name for c in columns for name in c.column(0).to_pylist()
        ).most_common(1)[0]
        raise InputError(
            f"{source}: cleaning keeps none of {rows:,} rows, '{worst}' alone drops {dropped:,}; "
            "check the languages, the order of the sides, and `cleaning`"
        )


def _each(function, tasks: list[tuple], workers: int) -> None:
    """Call `function` on every task, in this process or in several."""
    if workers == 1 or len(tasks) == 1:
        for task in tasks:
            function(*task)
        return
    # Processes are spawned, because forking a process with running threads of Arrow is not safe.
    spawn = get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(tasks)), spawn, _end_with_parent) as pool:
        futures = [pool.submit(function, *task) for task in tasks]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(
                cancel_futures=True
            )  # to report an error before the other shards are finished
            raise


def _end_with_parent() -> None:
    """End this worker when its parent is killed; else it would wait for ever, or write while a new run writes."""

    def outlive() -> None:
        parent_process().join()
        os._exit(1)

    threading.Thread(target=outlive, daemon=True).start()


def _normalise_shard(
    work: Path,
    judge: _Judge,
    buckets: Buckets,
    shard: Path,
    name: str,
    start: int,
) -> None:
    """Write the normalised text of a shard, and the digests of its rows to the buckets."""
    normalised = work / "normalised" / name
    if normalised.exists():
        return

    def records() -> Iterator[np.ndarray]:
        row = start
        for batch in read_batches(shard, kept=False, rows=BATCH_ROWS):
            texts = []
            for side in SIDES:
                missing = batch.column(side).null_count
                if missing != (0 if side in judge.sides else batch.num_rows):
                    raise InputError(
                        f"{shard}: some rows have a {side} and some none; import parallel and "
                        "monolingual text as two corpora"
                    )
            for side, language in zip(judge.sides, judge.languages, strict=True):
                texts.append(normalise(batch.column(side).to_pylist(), language))
                index = batch.schema.get_field_index(side)
                batch = batch.set_column(index, side, pa.array(texts[-1], pa.string()))
            part = digests(tuple(texts))
            part["row"] = np.arange(row, row + batch.num_rows)
            row += batch.num_rows
            writer.write(batch)
            yield part

    with TableWriter(normalised, read_schema(shard)) as writer:
        buckets.write(name, records())
    log.info("%s: normalised", shard)


def _filter_shard(work: Path, judge: _Judge, name: str, start: int, rows: int) -> None:
    """Write a shard with the name of the filter that rejected each rejected row."""
    normalised, cleaned = work / "normalised" / name, work / "cleaned" / name
    if cleaned.exists():
        return
    context = judge.context()
    repeats = np.fromfile(work / "repeats", np.uint8, rows, offset=start)
    row = kept = 0
    with TableWriter(cleaned, read_schema(normalised)) as writer:
        for batch in read_batches(normalised, kept=False, rows=BATCH_ROWS):
            texts = tuple(batch.column(side).to_pylist() for side in judge.sides)
            pairs = Pairs.measured(
                texts, judge.languages, repeats[row : row + batch.num_rows], judge.sides
            )
            filters = clean_batch(pairs, context)
            dropped_by = pa.array(list(FILTERS)).take(pa.array(filters, mask=filters < 0))
            index = batch.schema.get_field_index("dropped_by")
            writer.write(batch.set_column(index, "dropped_by", dropped_by))
            row += batch.num_rows
            kept += dropped_by.null_count
    normalised.unlink()
    log.info("%s: %s of %s rows kept", name, f"{kept:,}", f"{rows:,}")


def _sides(shards: Sequence[Path]) -> tuple[Side, ...]:
    """Return the sides that the first row has."""
    for shard in shards:
        for batch in read_batches(shard, SIDES, kept=False, rows=1):
            found = tuple(side for side in SIDES if not batch.column(side).null_count)
            return found or SIDES  # a row without any side is an error later
    return SIDES
