"""Bootstrap over the segments of a test set: intervals of scores, and of differences on the same resamples.

Intervals are sacreBLEU's (Koehn 2004), and so are p-values of its own scores.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sacrebleu.significance import _compute_p_value, estimate_ci

Samples = Sequence[float]  # (resamples,)
BOOTSTRAP_SEED = 12345  # sacreBLEU's default, so that its command line gives the same intervals


class Difference(NamedTuple):
    """Interval (95 %) and p-value (paired bootstrap) of the difference of two systems on the same segments."""

    low: float
    high: float
    p_value: float


def paired_difference(ours: Samples, theirs: Samples, difference: float) -> Difference:
    """Test the difference of two systems from their scores on the same resamples.

    difference: difference of the scores on the whole text.
    The p-value is sacreBLEU's, so that its command line gives the same one: about half of a two-sided test's.  A
    difference of 0 has p = 1, because none is smaller; sacreBLEU's strict inequality would give it the smallest p.
    """
    samples = np.subtract(ours, theirs)
    deviations = np.abs(samples) - np.abs(samples).mean()
    p_value = 1.0 if difference == 0 else _compute_p_value(deviations, abs(difference))
    return Difference(*bounds(samples), p_value)


def difference_of_means(ours: Samples, theirs: Samples, difference: float) -> Difference:
    """Test the difference of two systems from their mean segment scores, by a two-sided test.

    The p-value is the share of resamples that differ at least as much as `difference`, after their mean is moved to
    0.  So p-value and interval agree on whether a difference is significant.
    """
    samples = np.subtract(ours, theirs)
    larger = np.count_nonzero(np.abs(samples - samples.mean()) >= abs(difference))
    return Difference(*bounds(samples), (larger + 1) / (len(samples) + 1))


def bounds(samples: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of a difference: its resamples without 2.5 % at either end, like sacreBLEU."""
    ordered, outside = np.sort(samples), len(samples) // 40
    return float(ordered[outside]), float(ordered[-1 - outside])


def resampled_means(scores: np.ndarray, bootstrap: int) -> np.ndarray:
    """Compute means (bootstrap, systems) of scores (segments, systems) on resamples of the segments."""
    draw = np.random.default_rng(BOOTSTRAP_SEED)
    count = len(scores)
    return np.stack([scores[draw.integers(count, size=count)].mean(0) for _ in range(bootstrap)])


def interval(samples: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of a score from its resamples (resamples,), around their mean, like sacreBLEU."""
    mean, half = estimate_ci(samples)
    return float(mean - half), float(mean + half)
