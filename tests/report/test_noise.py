"""A timing is noisy if the spread of its rounds is over a third of their median."""

import pytest

from weebill.report.noise import mark


@pytest.mark.parametrize(
    ("seconds", "marked"),
    [([3.0, 3.0, 4.0], ""), ([3.0, 3.0, 4.01], "~"), ([1.0], ""), ([], ""), (None, "")],
)
def test_the_spread_is_compared_with_the_median(seconds, marked):
    assert mark(seconds) == marked
