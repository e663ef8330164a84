"""Comparison of two variants on the same text: the difference in BLEU, its interval and significance.

Resamples, scores and p-values are sacreBLEU's own.  Both systems are scored on the same resamples, so the interval
is that of the difference itself: narrower than the two systems' own intervals suggest.

An interval from one training's translations ignores how other trainings would have ended.  So variants trained
from several seeds are compared on resamples of the seeds too (few seeds still show too little of their variation).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weebill.bleu import bleu
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.significance import BOOTSTRAP_SEED, bounds
from weebill.evaluation.quality.translation_file import Lines, check_lines
from weebill.evaluation.quality.translation_quality import TestSet, resampled, score_both


@dataclass(frozen=True)
class Comparison:
    """Difference in BLEU between a variant and another one on some test sets as one text."""

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


@dataclass(frozen=True)
class SeedsComparison:
    """Difference in BLEU between two variants on some test sets as one text, over seeds of their training."""

    variant: str  # STUDENT/RECIPE/PRECISION, of the experiment's seed
    baseline: str  # likewise
    test_sets: list[str]
    sentences: int
    seeds: list[int]
    scores: list[float]  # of the variant, 0 to 100, one per seed
    baseline_scores: list[float]
    difference: float  # the mean, above 0 if the variant is better
    difference_low: float  # bounds of its 95 % bootstrap interval
    difference_high: float
    signature: str  # sacreBLEU's


def compare(
    variant: Variant,
    baseline: Variant,
    test_sets: Sequence[TestSet],
    hypotheses: Lines,
    baseline_hypotheses: Lines,
    *,
    bootstrap: int,
    target: str,
) -> Comparison:
    """Compare two variants on all test sets as one text.

    hypotheses, baseline_hypotheses: a translation of every line of all test sets, in their order.
    bootstrap: number of resamples.  target: language code, as in `bleu`.
    Raises InputError if line counts differ.
    """
    references = [line for one in test_sets for line in one.references]
    texts = hypotheses, baseline_hypotheses
    for name, lines in zip((variant, baseline), texts, strict=True):
        check_lines(lines, references, str(name))
    found, other, paired = score_both(bleu(target), *texts, references, bootstrap)
    return Comparison(
        str(variant),
        str(baseline),
        [one.name for one in test_sets],
        len(references),
        *(found.score, found.low, found.high),
        *(other.score, other.low, other.high),
        found.score - other.score,
        *paired,
        found.signature,
    )


def compare_over_seeds(
    variant: Variant,
    baseline: Variant,
    test_sets: Sequence[TestSet],
    seeds: Sequence[int],
    hypotheses: Sequence[Lines],
    baseline_hypotheses: Sequence[Lines],
    *,
    bootstrap: int,
    target: str,
) -> SeedsComparison:
    """Compare two variants as `compare` does, seed by seed; there is one text of each variant for each seed."""
    references = [line for one in test_sets for line in one.references]
    metric, found, samples = bleu(target), [], []
    for name, by_seed in ((variant, hypotheses), (baseline, baseline_hypotheses)):
        for lines in by_seed:
            check_lines(lines, references, str(name))
        scored = (resampled(metric, lines, references, bootstrap) for lines in by_seed)
        of_one, its_samples = zip(*scored, strict=True)
        found.append(of_one), samples.append(its_samples)
    scores, others = ([one.score for one in of_one] for of_one in found)
    return SeedsComparison(
        str(variant),
        str(baseline),
        [one.name for one in test_sets],
        len(references),
        list(seeds),
        scores,
        others,
        float(np.mean(scores) - np.mean(others)),
        *bounds(_over_seeds(np.subtract(*samples))),
        found[0][0].signature,
    )


def _over_seeds(differences: np.ndarray) -> np.ndarray:
    """Average each resample of the text over a resample of the seeds: (seeds, resamples) → (resamples,)."""
    seeds, resamples = differences.shape
    chosen = np.random.default_rng(BOOTSTRAP_SEED).integers(0, seeds, (seeds, resamples))
    return np.take_along_axis(differences, chosen, axis=0).mean(axis=0)
