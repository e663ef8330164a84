"""Agreement of metrics with human judgements at segment level, as in WMT's metrics tasks.

MQM: Kendall's τ-b over all segments of all systems.  Direct assessments: does the metric prefer the better of two
translations of a source whose human scores differ by 25 points or more?  COMETINHO §6.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau

LEAST_DIFFERENCE = 25.0  # points of direct assessment, which run from 0 to 100
ROUNDING = 1e-12  # equal differences of agreements may differ by this
Statistic = Callable[[np.ndarray], float]


def kendall_tau_b(scores: np.ndarray, human: np.ndarray) -> float:
    """Return τ-b = (C − D) / √((P − T_scores) (P − T_human)) over all P pairs of segments (n,); T counts ties.

    NaN if all scores of a side are equal.
    """
    return float(kendalltau(scores, human, variant="b").statistic)


@dataclass(frozen=True)
class RelativeRanks:
    """Pairs of translations with clearly different human scores: rows of the better and the worse one (pairs,)."""

    better: np.ndarray
    worse: np.ndarray

    @classmethod
    def of(
        cls,
        human: Sequence[float],
        segments: Sequence[Hashable],
        least: float = LEAST_DIFFERENCE,
    ) -> "RelativeRanks":
        """Make the pairs of direct assessments (n,), one for each translation.

        segments: equal for translations of the same source.  least: smallest difference of a pair in points.
        """
        rows = defaultdict(list)
        for row, segment in enumerate(segments):
            rows[segment].append(row)
        pairs = [
            (i, j) if human[i] > human[j] else (j, i)
            for group in rows.values()
            for i, j in combinations(group, 2)
            if abs(human[i] - human[j]) >= least
        ]
        better, worse = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return cls(better, worse)

    def tau(self, scores: np.ndarray) -> float:
        """Return (C − D) / (C + D) of a metric's scores (n,); a tied pair counts as D.

        NaN if there is no pair.
        """
        if not len(self.better):
            return float("nan")
        return float(2 * (scores[self.better] > scores[self.worse]).mean() - 1)


def permutation_p_value(
    statistic: Statistic,
    scores: np.ndarray,
    other: np.ndarray,
    permutations: int = 1000,
    seed: int = 1,
) -> float:
    """Return the two-sided p-value of the difference in agreement of two metrics with people.

    statistic: agreement of scores (n,) with people.  Under the null hypothesis it does not matter which metric
    gave a score: both are standardised, and exchanged segment by segment at random.  With standardised scores
    the test is slightly conservative.  Permutations without an agreement are left out; NaN if a metric, or every
    permutation, has none.  Source: PERM-BOTH of Deutsch et al. 2021, which WMT's metrics tasks use.
    """
    ours, theirs = (_standardised(one) for one in (scores, other))
    observed = abs(statistic(ours) - statistic(theirs)) - ROUNDING
    if np.isnan(observed):
        return float("nan")
    draw = np.random.default_rng(seed)
    found = np.empty(permutations)
    for number in range(permutations):
        swapped = draw.random(len(ours)) < 0.5
        first, second = np.where(swapped, theirs, ours), np.where(swapped, ours, theirs)
        found[number] = abs(statistic(first) - statistic(second))
    found = found[~np.isnan(found)]
    if not len(found):
        return float("nan")
    return float(((found >= observed).sum() + 1) / (len(found) + 1))


def bootstrap_interval(
    statistic: Callable[[np.ndarray], float],
    segments: Sequence[Hashable],
    resamples: int = 1000,
    seed: int = 1,
) -> tuple[float, float]:
    """Return the 95 % interval of an agreement over resamples of the sources, each with all its translations.

    statistic: agreement on the rows (m,) of a resample, which may repeat.  Resamples without an agreement, for
    example with equal human scores, are left out; NaN if all are.
    """
    rows = defaultdict(list)
    for row, segment in enumerate(segments):
        rows[segment].append(row)
    groups = [np.array(one) for one in rows.values()]
    draw = np.random.default_rng(seed)
    found = np.array(
        [
            statistic(
                np.concatenate([groups[i] for i in draw.integers(len(groups), size=len(groups))])
            )
            for _ in range(resamples)
        ]
    )
    found = found[~np.isnan(found)]
    if not len(found):
        return float("nan"), float("nan")
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _standardised(scores: np.ndarray) -> np.ndarray:
    deviation = scores.std()
    return (scores - scores.mean()) / (deviation if deviation else 1.0)
