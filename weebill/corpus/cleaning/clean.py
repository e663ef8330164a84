"""Cleaning of a whole corpus as a stream, in the order of WNGT20 §3 and WMT21 §2.

The text is normalised, repeated pairs are found, and each filter is applied to the rows that earlier filters kept.
Every finished shard is a file in the work folder, so that a killed run continues there.
"""

import logging
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.cleaning.deduplicate import Buckets, digests
from weebill.corpus.cleaning.filters import FILTERS, clean_batch
from weebill.corpus.cleaning.filters.counts import BINS, expected_length_ratio, length_ratio_counts
from weebill.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
from weebill.corpus.cleaning.losses import great_losses
from weebill.corpus.cleaning.overlap import HeldOut
from weebill.corpus.cleaning.pairs import Context, Pairs, line_lengths
from weebill.corpus.cleaning.preparation import prepare
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
from weebill.files import atomic_path, claim_folder, move_folder, remove_folder
from weebill.replaceable import check_replaceable
from weebill.worker_processes import worker_processes
from weebill.workflow.code_version import code_of_module
from weebill.workflow.progress import counter
from weebill_runtime.names import SIDES, Side
from weebill_runtime.normalisation import Punctuation

BATCH_ROWS = 4096  # small enough to keep the arrays of a batch in the processor's cache

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """Settings of the filters, and the files that they need."""

    rules: Rules = field(default_factory=Rules)
    language_id: LanguageId | None = None  # None: languages are not identified
    punctuation: Punctuation | None = None  # as in `normalise`
    near_duplicates: bool = True  # also drop pairs whose folded text equals that of an earlier pair
    held_out: tuple[str, ...] = ()  # tables of test and validation sets

    def prepared(self, lines: list[str], language: str) -> list[str]:
        """Return lines of a language as the filters see them."""
        return prepare(lines, language, self.rules, self.punctuation)


def clean_corpus(
    source: str | Path,
    output: str | Path,
    languages: tuple[str, str],
    cleaning: Cleaning,
    workers: int = 1,
) -> None:
    """Clean the table `source`, and write all its rows to the folder of shards `output`.

    The text columns hold the normalised text; `dropped_by` names the first filter that rejected a row, or keeps the
    import's reason.
    Filters see only the existing side of monolingual text (the other side is null).  Memory does not depend on the
    number of rows; during the work, a folder next to `output` takes about twice the disk space of the corpus.
    languages: codes of source and target, ISO 639-1.  workers: number of processes; the result does not depend on it.
    Raises InputError if a table or the model is missing or damaged, the script of a language is unknown, the model
    does not know a language, `source` mixes parallel and monolingual rows, no row is left, or a worker is killed.
    """
    check_replaceable(output, SHARDS)
    output = Path(output)
    shards = shard_paths(source)
    first = next(read_batches(source, SIDES, kept=False, rows=1), None)
    # A row without any side raises an error later.
    sides = tuple(side for side in SIDES if first and not first.column(side).null_count) or SIDES
    by_side = dict(zip(SIDES, languages, strict=True))
    codes = tuple(by_side[side] for side in sides)
    files = [shard for table in cleaning.held_out for shard in shard_paths(table)]
    if cleaning.language_id is not None and Path(cleaning.language_id.model).exists():
        files.append(Path(cleaning.language_id.model))
    judge = _Judge(cleaning, sides, codes, tuple(map(_stamp, files)))
    _context(judge)  # reports a bad model or table before the first pass
    settings = [judge, [_stamp(shard) for shard in shards], code_of_module(__name__)]
    work = output.with_name(f"{output.name}.work")
    work.mkdir(parents=True, exist_ok=True)
    claim_folder(work, "settings.json", {"settings": repr(settings)})
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
    (work / "settings.json").unlink()  # from now on, another run cannot continue from the folder
    move_folder(work / "cleaned", output, SHARDS)
    remove_folder(work)


@dataclass(frozen=True)
class _Judge:
    """Settings and files that the filters need, in a form that can be sent to other processes."""

    cleaning: Cleaning
    sides: tuple[Side, ...]  # sides of the text
    languages: tuple[str, ...]  # their languages
    stamps: tuple  # paths, sizes and times of the files, so that a changed file is read again


def _clean_in(
    work: Path, source: str | Path, shards: Sequence[Path], judge: _Judge, workers: int
) -> None:
    """Make the folder `cleaned` in the work folder; finished shards are kept."""
    counts = [count_rows(shard, kept=False) for shard in shards]
    starts = [sum(counts[:shard]) for shard in range(len(shards))]
    names = [shard_name(number) for number in range(len(shards))]

    repeats, ratios = work / "repeats", work / "length_ratios"
    if not repeats.exists():
        ratios.mkdir(exist_ok=True)
        buckets = Buckets(work / "buckets", sum(counts))
        tasks = zip(shards, names, starts, strict=True)
        tasks = [(work, judge, buckets, *task) for task in tasks]
        _each(_normalise_shard, tasks, counts, "rows normalised", workers)
        with atomic_path(repeats) as partial:
            buckets.find(partial)
        shutil.rmtree(work / "buckets")
    expected = expected_length_ratio(sum(np.fromfile(ratios / name, np.int64) for name in names))
    tasks = zip(names, starts, counts, strict=True)
    tasks = [(work, judge, expected, *task) for task in tasks]
    _each(_filter_shard, tasks, counts, "rows cleaned", workers)

    _tell_losses(source, work / "cleaned", sum(counts))


@lru_cache(maxsize=1)
def _context(judge: _Judge) -> Context:
    """Return the models and tables, which each process loads once."""
    cleaning, sides, languages = judge.cleaning, judge.sides, judge.languages
    model, tables = cleaning.language_id, cleaning.held_out
    return Context(
        cleaning.rules,
        LanguageIdentifier(model, languages) if model is not None else None,
        HeldOut(tables, sides, languages, cleaning.prepared) if tables else None,
        cleaning.near_duplicates,
    )


def _stamp(path: Path) -> tuple[str, int, int]:
    return str(path), path.stat().st_size, path.stat().st_mtime_ns


def _tell_losses(source: str | Path, cleaned: Path, rows: int) -> None:
    """Log a warning for each filter that drops too much.

    Raises InputError if no row is left; the message names the filter that dropped most rows.
    """
    counts: Counter[str | None] = Counter()
    for batch in read_batches(cleaned, ["dropped_by"], kept=False):
        counts.update(batch.column(0).to_pylist())
    kept = counts.pop(None, 0)
    if rows and not kept:
        [(worst, dropped)] = counts.most_common(1)
        raise InputError(
            f"{source}: cleaning keeps none of {rows:,} rows, '{worst}' alone drops {dropped:,}; "
            "check the languages, their scripts (sr-Latn), the order of the sides, and `cleaning`"
        )
    for line in great_losses(counts, rows):
        log.warning("%s: %s", source, line)


def _each(function, tasks: list[tuple], rows: list[int], unit: str, workers: int) -> None:
    """Call the function with the arguments of each task in `workers` processes; rows: number of rows of each task."""
    progress = counter(sum(rows), unit)
    if workers == 1 or len(tasks) == 1:
        for task, count in zip(tasks, rows, strict=True):
            function(*task)
            progress(count)
        return
    with worker_processes(min(workers, len(tasks))) as pool:
        futures = [pool.submit(function, *task) for task in tasks]
        try:
            for future, count in zip(futures, rows, strict=True):
                future.result()
                progress(count)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # do not wait until the other shards are finished
            raise


def _normalise_shard(
    work: Path, judge: _Judge, buckets: Buckets, shard: Path, name: str, start: int
) -> None:
    """Write the normalised text of a shard, and add the digests of its rows to the buckets."""
    normalised = work / "normalised" / name
    if normalised.exists():
        return

    def records() -> Iterator[np.ndarray]:
        row = start
        for batch in read_batches(shard, kept=False, rows=BATCH_ROWS):
            for side in SIDES:
                missing = batch.column(side).null_count
                if missing != (0 if side in judge.sides else batch.num_rows):
                    raise InputError(
                        f"{shard}: some rows have a {side} and some none; import parallel and "
                        "monolingual text as two corpora"
                    )
            texts = tuple(
                judge.cleaning.prepared(batch.column(side).to_pylist(), language)
                for side, language in zip(judge.sides, judge.languages, strict=True)
            )
            if len(texts) == 2 and row == start:
                ratios[:] = length_ratio_counts(*map(line_lengths, texts))
            for side, normal in zip(judge.sides, texts, strict=True):
                index = batch.schema.get_field_index(side)
                batch = batch.set_column(index, side, pa.array(normal, pa.string()))
            part = digests(texts)
            part["row"] = np.arange(row, row + batch.num_rows)
            row += batch.num_rows
            writer.write(batch)
            yield part

    ratios = np.zeros(len(BINS) - 1, np.int64)  # counts of the first batch
    with TableWriter(normalised, read_schema(shard)) as writer:
        buckets.write(name, records())
        ratios.tofile(work / "length_ratios" / name)
    log.info("%s: normalised", shard)


def _filter_shard(
    work: Path, judge: _Judge, expected: float, name: str, start: int, rows: int
) -> None:
    """Write a shard with the name of the filter that rejected each rejected row."""
    normalised, cleaned = work / "normalised" / name, work / "cleaned" / name
    if cleaned.exists():
        return
    context = replace(_context(judge), length_ratio=expected)
    repeats = np.fromfile(work / "repeats", np.uint8, rows, offset=start)
    row = kept = 0
    with TableWriter(cleaned, read_schema(normalised)) as writer:
        for batch in read_batches(normalised, kept=False, rows=BATCH_ROWS):
            texts = tuple(batch.column(side).to_pylist() for side in judge.sides)
            pairs = Pairs(texts, judge.languages, repeats[row : row + batch.num_rows], judge.sides)
            filters = clean_batch(pairs, context)
            dropped_by = pa.array(list(FILTERS)).take(pa.array(filters, mask=filters < 0))
            # The import has already dropped rows with lines that are too long to read.
            dropped_by = pc.coalesce(batch.column("dropped_by"), dropped_by)
            index = batch.schema.get_field_index("dropped_by")
            writer.write(batch.set_column(index, "dropped_by", dropped_by))
            row += batch.num_rows
            kept += dropped_by.null_count
    normalised.unlink()
    log.info("%s: %s of %s rows kept", name, f"{kept:,}", f"{rows:,}")
