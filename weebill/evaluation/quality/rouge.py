"""ROUGE of summaries by the package rouge-score, stemmed, with bootstrap intervals.

ROUGE-Lsum compares sentences.  A rule finds their borders here, since the usual tokeniser's model would have to be
downloaded: a sentence ends at a line break, or at . ! ? (and a closing quote) before a capital, a digit or an
opening quote.  Sentences that were joined without a space, as in the BBC's summaries ("2%.The"), are split too.
"""

import re
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

from weebill.errors import InputError
from weebill.evaluation.quality.significance import BOOTSTRAP_SEED, interval, resampled_means

METRICS = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL", "ROUGE-Lsum": "rougeLsum"}
_OPENING = r"[A-Z0-9£$€\"'“‘(]"
_BORDER = re.compile(
    rf"(?<=[.!?])\s+(?={_OPENING})"
    rf"|(?<=[.!?][\"'”’)])\s+(?={_OPENING})"
    r"|(?<=[a-z0-9%)][.!?])(?=[A-Z“])"
    r"|(?<=[.!?][\"”])(?=[A-Z“])"
    r"|\n+"
)


def sentences(text: str) -> str:
    """Return the text with one line for each sentence, as ROUGE-Lsum expects it."""
    return "\n".join(part.strip() for part in _BORDER.split(text) if part.strip())


def rouge_scores(summaries: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return F-measures (summaries, 4) in the order of METRICS, 0 to 1.  Raises InputError if the counts differ."""
    if len(summaries) != len(references):
        message = f"ROUGE: {len(summaries):,} summaries for {len(references):,} references; make them again"
        raise InputError(message)
    scorer = RougeScorer(list(METRICS.values()), use_stemmer=True)
    rows = [scorer.score(*map(sentences, pair)) for pair in zip(references, summaries, strict=True)]
    return np.array([[row[name].fmeasure for name in METRICS.values()] for row in rows])


def rouge_intervals(scores: np.ndarray, resamples: int) -> list[tuple[float, float, float]]:
    """Return (mean, low, high) of each metric; the 95 % interval comes from resampling the summaries."""
    samples = resampled_means(scores, resamples)  # (resamples, 4)
    means = scores.mean(0)
    return [(float(means[i]), *interval(samples[:, i])) for i in range(scores.shape[1])]


def rouge_signature(search: str, resamples: int) -> str:
    """Return the settings that the numbers depend on.  search: settings that made the summaries."""
    return (
        f"rouge-score:{version('rouge-score')}|f-measure|stemmed|sentences:by-rule|{search}|"
        f"resamples:{resamples}|seed:{BOOTSTRAP_SEED}"
    )
