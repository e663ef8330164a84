"""Scores of judged sets, segment by segment: lexical, by models, or from a file."""

from collections.abc import Sequence

import numpy as np

from weebill.errors import InputError
from weebill.files import sha256_file
from weebill.metric.ensemble import Ensemble
from weebill.metric.judged_set import JudgedSet, MetricScores
from weebill.metric.judgements import finite_number, language_pairs, require_references
from weebill.metric.lexical import LEXICAL, lexical_scores, lexical_signature
from weebill.text_files import read_lines
from weebill.workflow.progress import counter


def scores_of(
    metric: str,
    judged: JudgedSet,
    models: Sequence[str],
    file: str | None,
    *,
    precision: str = "auto",
    device: str = "cpu",
) -> MetricScores:
    """Score a set by BLEU or chrF, by the mean of models, or from a file with one number for each row.

    Raises InputError if a model cannot be read, references are missing, or the file does not have a number per row.
    """
    sources, translations, references = (
        judged.judgements[name].tolist() for name in ("src", "mt", "ref")
    )
    if file is not None:
        return MetricScores(metric, f"file:{sha256_file(file)}", _from_file(file, judged))
    if metric in LEXICAL:
        require_references(references, metric)
        targets = [pair.partition("-")[2] for pair in language_pairs(judged.judgements)]
        scores = lexical_scores(metric, translations, references, targets)
        return MetricScores(metric, lexical_signature(metric, targets), scores)
    ensemble = Ensemble(models, precision, device)
    if ensemble.needs_references:
        require_references(references, metric)
    progress = counter(None, "sentences encoded")
    scores = ensemble.score({metric: translations}, sources, references, progress)[metric]
    return MetricScores(metric, f"sha256:{ensemble.sha256}|precision:{ensemble.precision}", scores)


def _from_file(path: str, judged: JudgedSet) -> np.ndarray:
    """Read scores (n,) of the set's rows from a file with one number for each row of its table."""
    lines = list(read_lines(path))
    if len(lines) != judged.table_rows:
        raise InputError(
            f"{path}: {len(lines):,} lines, expected one score for each of the table's {judged.table_rows:,} rows"
        )
    scores = np.empty(len(lines))
    for number, line in enumerate(lines):
        try:
            scores[number] = finite_number(line)
        except ValueError as error:
            raise InputError(f"{path}:{number + 1}: {line!r} is no number") from error
    return scores[judged.judgements.index]
