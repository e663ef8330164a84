"""Comparison of two variants on the same text: the difference in BLEU, its interval and significance.

Resamples, scores and p-values are sacreBLEU's own.  Both systems are scored on the same resamples, so the interval
is that of the difference itself: narrower than the two systems' own intervals suggest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics import BLEU
from sacrebleu.significance import _bootstrap_resample

from weebill.bleu import bleu
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.significance import paired_difference
from weebill.evaluation.quality.translation_file import check_lines
from weebill.evaluation.quality.translation_quality import (
    TestSet,
    bootstrap_seed,
    score_by,
)
from weebill.evaluation.record import Record


@dataclass(frozen=True)
class Comparison(Record):
    """Difference in BLEU between a variant and another one on some test sets together."""

    variant: str  # STUDENT/RECIPE/PRECISION
    baseline: str  # likewise
    test_sets: list[str]
    sentences: int
    score: float  # 0 to 100
    low: float  # bounds of its 95 % bootstrap interval
    high: float
    baseline_score: float
    baseline_low: float  # likewise
    baseline_high: float
    difference: float  # above 0 if the variant is better
    difference_low: float  # bounds of its 95 % bootstrap interval
    difference_high: float
    p_value: float  # of the difference, paired bootstrap
    signature: str  # sacreBLEU's


def compare(
    variant: Variant,
    baseline: Variant,
    test_sets: Sequence[TestSet],
    hypotheses: Sequence[Sequence[str]],
    baseline_hypotheses: Sequence[Sequence[str]],
    *,
    bootstrap: int,
    target: str,
) -> Comparison:
    """Compare two variants on all test sets as one text.

    hypotheses, baseline_hypotheses: one translation per line of each test set, in their order.  bootstrap: number
    of resamples.  target: language code, as in `translation_quality.score`.
    Raises InputError if line counts differ.
    """
    references = [line for one in test_sets for line in one.references]
    ours, theirs = ([line for one in s for line in one] for s in (hypotheses, baseline_hypotheses))
    for name, lines in ((variant, ours), (baseline, theirs)):
        check_lines(lines, references, str(name))
    metric = bleu(target)
    found, other = (score_by(metric, lines, references, bootstrap) for lines in (ours, theirs))
    difference = found.score - other.score
    paired = paired_difference(
        *(resampled(metric, lines, references, bootstrap) for lines in (ours, theirs)), difference
    )
    return Comparison(
        variant=str(variant),
        baseline=str(baseline),
        test_sets=[one.name for one in test_sets],
        sentences=len(references),
        score=found.score,
        low=found.low,
        high=found.high,
        baseline_score=other.score,
        baseline_low=other.low,
        baseline_high=other.high,
        difference=difference,
        difference_low=paired.low,
        difference_high=paired.high,
        p_value=paired.p_value,
        signature=found.signature,
    )


def resampled(
    metric: BLEU, hypotheses: Sequence[str], references: Sequence[str], bootstrap: int
) -> list[float]:
    """Return the score of each resample; resamples consist of the same sentences for every system."""
    statistics = metric._extract_corpus_statistics(hypotheses, [references])
    with bootstrap_seed():
        _, scores = _bootstrap_resample(statistics, metric, bootstrap)
    return [one.score for one in scores]
