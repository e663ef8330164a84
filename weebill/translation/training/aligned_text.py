"""Alignment of the pieces of training text, for guided alignment."""

import logging
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.alignment import Pair, align
from weebill.corpus.table import AUGMENTED_BY, read_batches, read_schema, write_table
from weebill.files import sha256_file, unfinished_work
from weebill.translation.training.encoding import LINKS, augmented, write_links
from weebill.workflow.code_version import code_of_module
from weebill_runtime.names import SIDES
from weebill_runtime.vocabulary import AnyVocabulary


def align_text(
    table: Path, output: Path, vocabulary: AnyVocabulary, seed: int, pairs_at_once: int
) -> int:
    """Write the kept rows of a training text with a column `links`; return the number of rows that have links.

    links: as in `links_field`; null for rows that augmentation added, because their spelling is rare for the aligner.
    Text is aligned in equal parts of at most `pairs_at_once` pairs; OUTPUT.work keeps the finished ones.
    Raises InputError if there are no pairs, or if the aligner is missing or fails.
    """
    identity = {
        "text": sha256_file(table),
        "vocabulary": vocabulary.sha256,
        "seed": seed,
        "pairs_at_once": pairs_at_once,
        "code": code_of_module(__name__),
    }
    with unfinished_work(output, identity) as work:
        total = sum(batch.num_rows for batch in _plain(table))
        parts = max(1, -(-total // pairs_at_once))
        pairs, paths = _pieces(table, vocabulary), []
        bounds = pairwise(part * total // parts for part in range(parts + 1))
        for number, (begin, end) in enumerate(bounds):
            part = islice(pairs, end - begin)
            paths.append(work / f"part-{number:05d}.parquet")
            if paths[-1].is_file():
                for _ in part:
                    pass
                continue
            most = max(len(vocabulary.source), len(vocabulary.target))
            aligned = align(part, most, seed + number, work / "eflomal")
            links = [[position for link in found for position in link] for *_, found in aligned]
            write_table(paths[-1], pa.table({LINKS: pa.array(links, pa.list_(pa.uint16()))}))
            logging.info("%s of %s pairs aligned", f"{end:,}", f"{total:,}")
        aligned = chain.from_iterable(map(read_batches, paths))
        found = chain.from_iterable(batch.column(0).to_pylist() for batch in aligned)

        def find(batch: pa.RecordBatch) -> list[list[int] | None]:
            return [None if added else next(found) for added in augmented(batch)]

        write_links(table, output, vocabulary, find)
    return total


def _plain(table: Path) -> Iterator[pa.RecordBatch]:
    """Yield source and target of the rows that augmentation did not add."""
    added = [AUGMENTED_BY] * (AUGMENTED_BY in read_schema(table).names)
    for batch in read_batches(table, ["source", "target", *added]):
        yield batch.filter(pc.invert(pa.array(augmented(batch), pa.bool_())))


def _pieces(table: Path, vocabulary: AnyVocabulary) -> Iterator[Pair]:
    for batch in _plain(table):
        sides = [getattr(vocabulary, side).encode(batch[side].to_pylist()) for side in SIDES]
        yield from ((source[:-1], target[:-1]) for source, target in zip(*sides, strict=True))
