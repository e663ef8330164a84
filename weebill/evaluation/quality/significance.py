"""Bootstrap over the segments of a test set: intervals of scores, and of the difference of two systems.

Intervals are sacreBLEU's (Koehn 2004), and so are p-values of its own scores; all systems are scored on the same
resamples.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sacrebleu.significance import _compute_p_value, estimate_ci

BOOTSTRAP_SEED = 12345  # sacreBLEU's default, so that its command line gives the same intervals


class Difference(NamedTuple):
    """Of two systems on the same segments: its 95 % interval, and its p-value by paired bootstrap."""

    low: float
    high: float
    p_value: float


def paired_difference(
    ours: Sequence[float], theirs: Sequence[float], difference: float
) -> Difference:
    """Of two systems' scores (resamples,) on the same resamples; difference: on the whole.

    The p-value is sacreBLEU's, so that its command line gives the same: about half of a two-sided test's.
    No difference has p = 1, as none is smaller; sacreBLEU's strict inequality would give it the smallest p.
    """
    samples = np.subtract(ours, theirs)
    deviations = np.abs(samples) - np.abs(samples).mean()
    p_value = 1.0 if difference == 0 else _compute_p_value(deviations, abs(difference))
    return Difference(*bounds(samples), p_value)


def difference_of_means(
    ours: Sequence[float], theirs: Sequence[float], difference: float
) -> Difference:
    """The same of mean segment scores, by a two-sided test: how often resamples, moved to no difference, differ as
    much.  So p-value and interval agree on whether a difference is significant.
    """
    samples = np.subtract(ours, theirs)
    larger = np.count_nonzero(np.abs(samples - samples.mean()) >= abs(difference))
    return Difference(*bounds(samples), (larger + 1) / (len(samples) + 1))


def bounds(samples: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of a difference by its resamples (resamples,): without 2.5 % at either end, as sacreBLEU."""
    ordered, outside = np.sort(samples), len(samples) // 40
    return float(ordered[outside]), float(ordered[-1 - outside])


def resampled_means(scores: np.ndarray, bootstrap: int) -> np.ndarray:
    """Means (bootstrap, systems) of scores (segments, systems) on resamples of the segments."""
    draw = np.random.default_rng(BOOTSTRAP_SEED)
    count = len(scores)
    return np.stack([scores[draw.integers(count, size=count)].mean(0) for _ in range(bootstrap)])


def interval(samples: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of a score by its resamples (resamples,), around their mean as sacreBLEU gives it."""
    mean, half = estimate_ci(samples)
    return float(mean - half), float(mean + half)
