"""Filters that drop so much of a corpus that their settings may not fit it."""

from collections.abc import Mapping

GREAT = 1 / 3  # share of a corpus that one filter drops
# Filters that drop what is needless rather than bad: a corpus may consist of repeats.
NEEDLESS = ("duplicate", "near_duplicate", "test_overlap")


def great_losses(dropped: Mapping[str, int], rows: int) -> list[str]:
    """Return a line for each filter that drops more than a third of the rows.  dropped: number of rows by filter."""
    return [
        f"the filter '{name}' drops {count:,} of {rows:,} rows ({count / rows:.0%}); look at its examples in the "
        f"cleaning report; `cleaning.rules` has its thresholds, `cleaning.rules.disabled: [{name}]` turns it off"
        for name, count in dropped.items()
        if count > GREAT * rows and name not in NEEDLESS
    ]
