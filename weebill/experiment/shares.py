"""Shares of heads and neurons as whole numbers."""

import math


def part_of(share: float, count: int) -> int:
    """Return ⌊share · count⌋, robust to rounding: 0.29 of 100 is 29, although the product in float64 is less."""
    return math.floor(share * count + 1e-9)
