"""Shares are rounded down."""

from weebill.experiment.shares import part_of


def test_a_share_is_rounded_down_but_not_by_binary_fractions():
    assert part_of(0.3, 16) == 4  # like the published code of TEXTGEN
    assert part_of(0.3, 12) == 3
    assert [part_of(0.29, 100), part_of(0.7, 10), part_of(0.6, 5)] == [29, 7, 3]
