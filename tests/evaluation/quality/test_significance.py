"""Bootstrap of means, compared with its closed form, and paired differences, compared with a count."""

import numpy as np
import pytest
from scipy.stats import norm

from weebill.evaluation.quality.significance import (
    difference_of_means,
    interval,
    paired_difference,
    resampled_means,
)


def test_means_scatter_as_their_standard_error():
    scores = np.random.default_rng(1).normal([0.2, 0.5], [1.0, 3.0], (400, 2))
    samples = resampled_means(scores, 3000)
    assert samples.shape == (3000, 2)
    error = scores.std(0) / np.sqrt(400)
    np.testing.assert_allclose(samples.mean(0), scores.mean(0), atol=0.1 * error.max())
    np.testing.assert_allclose(samples.std(0), error, rtol=0.06)
    for column in range(2):
        low, high = interval(samples[:, column])
        assert (high - low) / 2 == pytest.approx(1.96 * error[column], rel=0.08)


def test_systems_share_their_resamples():
    scores = np.random.default_rng(2).normal(size=(100, 1))
    ours, theirs = resampled_means(np.hstack([scores + 0.01, scores]), 200).T
    np.testing.assert_allclose(ours - theirs, 0.01)
    found = paired_difference(ours, theirs, 0.01)
    assert found == pytest.approx((0.01, 0.01, 1 / 201))


def test_p_value_counts_larger_deviations():
    ours, theirs = np.arange(40.0), np.zeros(40)
    found = paired_difference(ours, theirs, 10.5)  # deviations -19.5 to 19.5
    assert found == (1.0, 38.0, (9 + 1) / 41)
    assert paired_difference(ours, ours, 0.0).p_value == 1.0


@pytest.mark.parametrize("deviations", [0.5, 1.0, 1.7, 2.5])
def test_p_value_of_means_is_that_of_a_two_sided_test(deviations):
    """Means of 400 segments follow the normal distribution."""
    noise = np.random.default_rng(3).normal(size=400)
    noise -= noise.mean()
    difference = deviations * noise.std() / np.sqrt(400)
    scores = np.stack([noise + difference, np.zeros(400)], 1)
    found = difference_of_means(*resampled_means(scores, 4000).T, difference)
    assert found.p_value == pytest.approx(2 * norm.sf(deviations), abs=0.015)
    assert (found.low > 0) == (found.p_value < 0.05)


def test_equal_means_have_p_1():
    assert difference_of_means([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 0.0).p_value == 1.0
