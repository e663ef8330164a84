"""Alignment of the pieces of training text, for guided alignment."""

import logging
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from pathlib import Path

import pyarrow as pa

from weebill.corpus.alignment import Pair, align
from weebill.corpus.table import AUGMENTED_BY, TableWriter, read_batches, read_schema, write_table
from weebill.files import claim_folder, remove_folder, sha256_file
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.training.encoding import LINKS, links_field
from weebill.workflow.code_version import code_of_module


def align_text(
    table: Path, output: Path, vocabulary: Vocabulary, seed: int, pairs_at_once: int
) -> int:
    """Write the kept rows of a training text with a column `links`; return the number of rows that have links.

    links: as in `links_field`; null for rows that augmentation added, because their spelling is rare for the aligner.
    Text is aligned in parts of equal size, of at most `pairs_at_once` pairs, so that memory is bounded.  OUTPUT.work
    keeps finished parts until all are done.
    Raises InputError if there are no pairs, or if the aligner is missing or fails.
    """
    work = output.with_name(f"{output.name}.work")
    work.mkdir(parents=True, exist_ok=True)
    identity = {
        "text": sha256_file(table),
        "vocabulary": vocabulary.sha256,
        "seed": seed,
        "pairs_at_once": pairs_at_once,
        "code": code_of_module(__name__),
    }
    claim_folder(work, "identity.json", identity)
    total = sum(batch.num_rows for batch in _plain(table))
    parts = max(1, -(-total // pairs_at_once))
    pairs, paths = _pieces(table, vocabulary), []
    for number, (begin, end) in enumerate(
        pairwise(part * total // parts for part in range(parts + 1))
    ):
        part = islice(pairs, end - begin)
        paths.append(work / f"part-{number:05d}.parquet")
        if paths[-1].is_file():
            for _ in part:
                pass
            continue
        aligned = align(part, len(vocabulary), seed + number, work / "eflomal")
        links = [[position for link in found for position in link] for *_, found in aligned]
        write_table(paths[-1], pa.table({LINKS: pa.array(links, pa.list_(pa.uint16()))}))
        logging.info("%s of %s pairs aligned", f"{end:,}", f"{total:,}")
    _write(table, output, paths, vocabulary)
    remove_folder(work)
    return total


def _plain(table: Path) -> Iterator[pa.RecordBatch]:
    """Yield source and target of the rows that augmentation did not add."""
    columns = ["source", "target"]
    columns += [AUGMENTED_BY] * (AUGMENTED_BY in read_schema(table).names)
    for batch in read_batches(table, columns):
        if len(columns) > 2:
            batch = batch.filter(batch.column(AUGMENTED_BY).is_null())
        yield batch


def _pieces(table: Path, vocabulary: Vocabulary) -> Iterator[Pair]:
    for batch in _plain(table):
        sides = [vocabulary.encode(batch[side].to_pylist()) for side in ("source", "target")]
        yield from ((source[:-1], target[:-1]) for source, target in zip(*sides, strict=True))


def _write(table: Path, output: Path, parts: list[Path], vocabulary: Vocabulary) -> None:
    found = chain.from_iterable(
        batch.column(0).to_pylist() for part in parts for batch in read_batches(part)
    )
    names = [name for name in read_schema(table).names if name != "dropped_by"]
    fields = [read_schema(table).field(name) for name in names]
    field = links_field(vocabulary)
    with TableWriter(output, pa.schema([*fields, field])) as writer:
        for batch in read_batches(table, names):
            added = [False] * batch.num_rows
            if AUGMENTED_BY in names:
                added = batch.column(AUGMENTED_BY).is_valid().to_pylist()
            links = [None if copy else next(found) for copy in added]
            column = pa.array(links, field.type)
            writer.write(pa.table(batch).append_column(LINKS, column))
