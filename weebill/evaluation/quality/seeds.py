"""Comparison of two variants, both trained from several seeds: the mean difference in BLEU and its interval.

An interval from one training's translations leaves out how other trainings would have ended.  Here seeds are
resampled as well as sentences, so the interval includes both (with few seeds, still too little of the seeds'
variation).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weebill.bleu import bleu
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import resampled
from weebill.evaluation.quality.significance import BOOTSTRAP_SEED, bounds
from weebill.evaluation.quality.translation_file import check_lines
from weebill.evaluation.quality.translation_quality import TestSet, score_by
from weebill.evaluation.record import Record


@dataclass(frozen=True)
class SeedsComparison(Record):
    """Difference in BLEU between two variants on some test sets together, over seeds of their training."""

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


def compare_over_seeds(
    variant: Variant,
    baseline: Variant,
    test_sets: Sequence[TestSet],
    seeds: Sequence[int],
    hypotheses: Sequence[Sequence[str]],
    baseline_hypotheses: Sequence[Sequence[str]],
    *,
    bootstrap: int,
    target: str,
) -> SeedsComparison:
    """Compare two variants on all test sets as one text, seed by seed.

    hypotheses, baseline_hypotheses: for each seed, a translation of every line of all test sets, in their order.
    bootstrap: number of resamples.  target: language code, as in `translation_quality.score`.
    Raises InputError if line counts differ.
    """
    references = [line for one in test_sets for line in one.references]
    metric = bleu(target)

    found, samples = {}, {}
    for name, by_seed in ((variant, hypotheses), (baseline, baseline_hypotheses)):
        for lines in by_seed:
            check_lines(lines, references, str(name))
        found[name] = [score_by(metric, lines, references, bootstrap) for lines in by_seed]
        samples[name] = [resampled(metric, lines, references, bootstrap) for lines in by_seed]
    scores, others = ([one.score for one in found[name]] for name in (variant, baseline))
    low, high = bounds(_over_seeds(np.subtract(samples[variant], samples[baseline])))
    return SeedsComparison(
        variant=str(variant),
        baseline=str(baseline),
        test_sets=[one.name for one in test_sets],
        sentences=len(references),
        seeds=list(seeds),
        scores=scores,
        baseline_scores=others,
        difference=float(np.mean(scores) - np.mean(others)),
        difference_low=low,
        difference_high=high,
        signature=found[variant][0].signature,
    )


def _over_seeds(differences: np.ndarray) -> np.ndarray:
    """Average each resample of the text over a resample of the seeds: (seeds, resamples) → (resamples,)."""
    seeds, resamples = differences.shape
    draw = np.random.default_rng(BOOTSTRAP_SEED)
    chosen = draw.integers(0, seeds, (seeds, resamples))
    return np.take_along_axis(differences, chosen, axis=0).mean(axis=0)
