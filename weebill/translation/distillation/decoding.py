"""Translation of a shard by the teacher into an n-best table; a killed job can be continued."""

import logging
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from weebill.corpus.table import TableWriter, count_rows, read_batches, write_table
from weebill.files import claim_folder, read_json, remove_folder, sha256_file, write_json
from weebill.translation.distillation.sentence_bleu import best_hypothesis
from weebill.translation.distillation.shards import NBEST_SCHEMA, SPLIT_SCHEMA, Rows
from weebill.translation.search import Cut, SearchOptions
from weebill.translation.search.cuts import log_cut_count
from weebill.translation.translator import TextTranslator

log = logging.getLogger(__name__)

CUTS = "cuts.json"  # number of cut sentences of each chunk, in a job's folder of work


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

    OUTPUT.work keeps finished chunks of rows until all are done, so that a killed job continues to the same result.
    made_by: JSON values for everything else that the result depends on (model hashes, code).  Chunks of another
    shard, or with another `made_by`, are made again.  language: the references' language, for their tokens.
    The number of cut sentences (`search.max_source_tokens`) is logged in one line at the end, including those of
    killed jobs.
    """
    work = Path(f"{output}.work")
    signature = {
        "shard": sha256_file(shard),
        "search": asdict(search),
        "made_by": dict(made_by),
        "language": language,
    }
    work.mkdir(parents=True, exist_ok=True)
    claim_folder(work, "signature.json", signature)
    total, done, start = count_rows(shard), 0, time.monotonic()
    rows, chunks = Rows(shard, SPLIT_SCHEMA.names), []
    cuts = read_json(work / CUTS) if (work / CUTS).is_file() else {}  # by chunk
    for number, begin in enumerate(range(0, total, chunk_rows)):
        chunk = pa.Table.from_batches(rows.take(chunk_rows), SPLIT_SCHEMA)
        chunks.append(work / f"chunk-{number:05d}.parquet")
        if chunks[-1].is_file():
            continue
        found, cuts[str(number)] = _translate(chunk, translator, search, language)
        write_json(work / CUTS, cuts)  # before the chunk: a finished chunk is not made again
        write_table(chunks[-1], found)
        done += chunk.num_rows
        speed = done / (time.monotonic() - start)
        left = total - begin - chunk.num_rows
        log.info(
            "%s: %s of %s sentences, %.1f a second, %.0f s left",
            output, f"{total - left:,}", f"{total:,}", speed, left / speed,
        )  # fmt: skip
    log_cut_count(str(shard), sum(cuts.values()), total, search.max_source_tokens)
    with TableWriter(output, NBEST_SCHEMA) as writer:
        for chunk_path in chunks:
            for part in read_batches(chunk_path):
                writer.write(part)
    remove_folder(work)


def _translate(
    chunk: pa.Table, translator: TextTranslator, search: SearchOptions, language: str
) -> tuple[pa.Table, int]:
    """Return the n-best table of a chunk, and the number of its sentences that were cut."""
    cuts: list[Cut] = []
    translator.on_cut = cuts.append
    found = translator.nbest(chunk["source"].to_pylist(), search)
    texts = [[hypothesis.text for hypothesis in hypotheses] for hypotheses in found]
    scores = [[hypothesis.score for hypothesis in hypotheses] for hypotheses in found]
    selected = [
        0 if reference is None else best_hypothesis(hypotheses, reference, language)
        for hypotheses, reference in zip(texts, chunk["target"].to_pylist(), strict=True)
    ]
    columns = dict(zip(chunk.column_names, chunk.columns, strict=True))
    columns |= {"hypotheses": texts, "scores": scores, "selected": selected}
    return pa.table(columns, NBEST_SCHEMA), len(cuts)
