"""Translation of a shard by the teacher into an n-best table; sentence BLEU selects one of its hypotheses."""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from weebill.bleu import bleu
from weebill.corpus.table import RowReader, TableWriter, count_rows, read_batches, write_table
from weebill.files import read_json, sha256_file, unfinished_work, write_json
from weebill.translation.distillation.shards import NBEST_SCHEMA, SPLIT_SCHEMA
from weebill.workflow.progress import counter
from weebill_runtime.options import Cut, SearchOptions, log_cut_count
from weebill_runtime.text_translator import Progress, TextTranslator

CUTS = "cuts.json"  # number of cut sentences of each chunk; a file in the job's work folder
ORDERS = 4  # largest n-gram order in sentence BLEU


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
    made_by: JSON values for everything else that the result depends on (model hashes, code); chunks with other values
    are made again.  language: that of the references, which selects the tokenizer.  Logs the number of cut sentences.
    """
    identity = {"shard": sha256_file(shard), "search": asdict(search), "language": language}
    with unfinished_work(output, {**identity, "made_by": dict(made_by)}) as work:
        total, done, start = count_rows(shard), 0, time.monotonic()
        rows, chunks = RowReader(shard, SPLIT_SCHEMA.names), []
        cuts = read_json(work / CUTS) if (work / CUTS).is_file() else {}  # by chunk
        for number, begin in enumerate(range(0, total, chunk_rows)):
            chunk = pa.Table.from_batches(rows.take(chunk_rows), SPLIT_SCHEMA)
            chunks.append(work / f"chunk-{number:05d}.parquet")
            if chunks[-1].is_file():
                continue
            told = counter(total, "sentences", begin)
            found, cuts[str(number)] = _translate(chunk, translator, search, language, told)
            write_json(work / CUTS, cuts)  # before the chunk: a finished chunk is not made again
            write_table(chunks[-1], found)
            done += chunk.num_rows
            speed = done / (time.monotonic() - start)
            left = total - begin - chunk.num_rows
            logging.info(
                "%s: %s of %s sentences, %.1f a second, %.0f s left",
                output, f"{total - left:,}", f"{total:,}", speed, left / speed,
            )  # fmt: skip
        log_cut_count(str(output), sum(cuts.values()), total, search.max_source_tokens)
        with TableWriter(output, NBEST_SCHEMA) as writer:
            for chunk_path in chunks:
                for part in read_batches(chunk_path):
                    writer.write(part)


def _translate(
    chunk: pa.Table,
    translator: TextTranslator,
    search: SearchOptions,
    language: str,
    progress: Progress,
) -> tuple[pa.Table, int]:
    """Return the n-best table of a chunk, and the number of its sentences that were cut."""
    cuts: list[Cut] = []
    translator.on_cut = cuts.append
    found = translator.nbest(chunk["source"].to_pylist(), search, progress)
    texts = [[hypothesis.text for hypothesis in hypotheses] for hypotheses in found]
    scores = [[hypothesis.score for hypothesis in hypotheses] for hypotheses in found]
    selected = [
        0 if reference is None else best_hypothesis(hypotheses, reference, language)
        for hypotheses, reference in zip(texts, chunk["target"].to_pylist(), strict=True)
    ]
    columns = dict(zip(chunk.column_names, chunk.columns, strict=True))
    columns |= {"hypotheses": texts, "scores": scores, "selected": selected}
    return pa.table(columns, NBEST_SCHEMA), len(cuts)


def sentence_bleu(hypothesis: str, reference: str, language: str = "") -> float:
    """Compute BLEU in [0, 1], with 1 added to the matches and to the totals of each n-gram order from 1 to 4.

    The hypothesis has m_n matches among t_n n-grams, and c tokens; the reference has r tokens (cased, by sacreBLEU's
    tokenizer of the language):
    BLEU = min(1, exp(1 − r / c)) · (Π_n (m_n + 1) / (t_n + 1))^(1/4).  An empty hypothesis scores 0.
    """
    found, expected = _ngrams(hypothesis, language), _ngrams(reference, language)
    length = found[0].total()
    if not length:
        return 0.0
    log_precision = 0.0
    for ours, theirs in zip(found, expected, strict=True):
        matches = sum(min(count, theirs[ngram]) for ngram, count in ours.items() if ngram in theirs)
        log_precision += math.log((matches + 1) / (ours.total() + 1)) / ORDERS
    return math.exp(min(0.0, 1 - expected[0].total() / length) + log_precision)


def best_hypothesis(hypotheses: Sequence[str], reference: str, language: str = "") -> int:
    """Return the index of the hypothesis with the highest `sentence_bleu`; of equal ones, the first."""
    scores = [sentence_bleu(hypothesis, reference, language) for hypothesis in hypotheses]
    return scores.index(max(scores))


@cache
def _tokenizer(language: str) -> Callable[[str], str]:
    return bleu(language).tokenizer


@lru_cache(64)  # all hypotheses of a row share a reference, which is counted once
def _ngrams(text: str, language: str) -> list[Counter]:
    tokens = _tokenizer(language)(text).split()
    starts = [tokens[start:] for start in range(ORDERS)]
    return [Counter(zip(*starts[:order], strict=False)) for order in range(1, ORDERS + 1)]
