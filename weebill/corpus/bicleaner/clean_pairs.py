"""Selection of the cleanest pairs of the corpora, the training text of a classifier."""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.stats import rankdata

from weebill.corpus.bicleaner.exchange import as_line
from weebill.corpus.sampling import draw_rows
from weebill.corpus.scores.scoring import kept_rows
from weebill.corpus.table import RowReader, read_batches
from weebill.errors import InputError
from weebill.experiment.scores import SCORES
from weebill.files import atomic_folder
from weebill.replaceable import FolderKind

log = logging.getLogger(__name__)

VALIDATION_SHARE = 0.1
MAX_VALIDATION = 2000
MIN_PAIRS = 100
PAIRS = FolderKind(always=("training.tsv", "validation.tsv"))

Corpora = Mapping[str | Path, Sequence[tuple[str, str | Path]]]


def write_clean_pairs(
    corpora: Corpora, output: str | Path, pairs: int, cleanest: float, seed: int
) -> None:
    """Write `training.tsv` and `validation.tsv`, with lines SOURCE TAB TARGET, into the folder `output`.

    corpora: cleaned tables; each with names (in SCORES) and tables of its scores.  All corpora have the same scores.
    pairs: largest number of pairs in both files together, drawn at random from the kept rows of all corpora.
    cleanest: if there are scores, pairs / cleanest rows are drawn, and this share with the best ranks is kept.
    Memory holds only the drawn pairs.  Raises InputError if there are too few rows.
    """
    scored = any(corpora.values())
    drawn = draw_rows(_kept(corpora), math.ceil(pairs / cleanest) if scored else pairs, seed)
    if scored and drawn is not None:
        # Ranks are added, because the units of the scores differ; earlier rows win ties.
        ranks = sum(rankdata(column.to_numpy()) for column in drawn.columns[2:])
        best = np.argsort(ranks, kind="stable")[: math.ceil(cleanest * len(ranks))]
        drawn = drawn.take(pa.array(np.sort(best)[:pairs]))
    found = 0 if drawn is None else drawn.num_rows
    if found < MIN_PAIRS:
        raise InputError(
            f"the cleaned corpora have {found} pairs to train bicleaner on, expected {MIN_PAIRS}; give it "
            "more text, or name a trained model in scoring.bicleaner.model"
        )
    held_out = min(MAX_VALIDATION, int(VALIDATION_SHARE * found))
    lines = [as_line((row["source"], row["target"])) for row in drawn.to_pylist()]
    parts = {"validation": lines[:held_out], "training": lines[held_out:]}
    with atomic_folder(output, PAIRS) as made:
        for name, text in parts.items():
            (made / f"{name}.tsv").write_text("".join(text), encoding="utf-8", newline="")
    log.info("%s pairs to train on, %s to validate on", f"{found - held_out:,}", held_out)


def _kept(corpora: Corpora) -> Iterator[pa.Table]:
    """Yield the kept rows: source, target, and each score under its name, signed so that higher values are worse."""
    for corpus, scores in corpora.items():
        columns = {name: RowReader(path, [SCORES[name].column]) for name, path in scores}
        for batch in read_batches(corpus, ["source", "target", "dropped_by"], kept=False):
            table = pa.table(batch.select(["source", "target"]))
            for name, column in columns.items():
                values = column.take_column(batch.num_rows).to_numpy(zero_copy_only=False)
                badness = -values if SCORES[name].higher_is_better else values
                table = table.append_column(name, pa.array(badness))
            yield table.filter(pa.array(kept_rows(batch)))
