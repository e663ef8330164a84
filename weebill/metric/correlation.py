"""How well a metric agrees with people: segment by segment, as the metrics tasks of WMT measure it.

MQM: Kendall's τ-b over all segments of all systems.  Direct assessments: of two translations of a source that
people's scores tell apart by 25 points, does the metric prefer the better one?  COMETINHO §6.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau

LEAST_DIFFERENCE = 25.0  # points of direct assessment, 0 to 100
ROUNDING = 1e-12  # by which equal differences of agreements may seem unlike
Statistic = Callable[[np.ndarray], float]


def kendall_tau_b(scores: np.ndarray, human: np.ndarray) -> float:
    """τ-b = (C − D) / √((P − T_scores) (P − T_human)) over all P pairs of segments (n,), T those that tie.

    NaN where all scores of a side are equal.
    """
    return float(kendalltau(scores, human, variant="b").statistic)


@dataclass(frozen=True)
class RelativeRanks:
    """Pairs of translations of a source that people tell apart: rows of the better and of the worse (pairs,)."""

    better: np.ndarray
    worse: np.ndarray

    @classmethod
    def of(
        cls,
        human: Sequence[float],
        segments: Sequence[Hashable],
        least: float = LEAST_DIFFERENCE,
    ) -> "RelativeRanks":
        """From direct assessments (n,), one for each translation.

        segments: equal where translations are of the same source.  least: points that two must differ by at least.
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
        """(C − D) / (C + D) of a metric's scores (n,); a pair that it scores alike counts as D.

        NaN where there is no pair.
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
    """Whether one metric agrees better with people than another, or worse: a p-value of both sides.

    statistic: the agreement of scores (n,) with people.  Under the null hypothesis it does not matter which
    metric gave a score: both are standardised, and exchanged segment by segment at random.  With standardised
    scores the test is a little conservative.  Permutations without an agreement are left out; NaN where a
    metric has none itself, or no permutation.
    Source: the test PERM-BOTH of Deutsch et al. 2021, which WMT's metrics tasks use.
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
    """The 95 % interval of an agreement over resamples of the sources, each with all its translations.

    statistic: of the rows (m,) of a resample, some of them several times.  Resamples without an agreement, as
    where people's scores are all equal, are left out; NaN where none has one.
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
