"""Shares of heads and neurons as whole numbers of them."""

import math


def part_of(share: float, count: int) -> int:
    """⌊share · count⌋, where a share such as 0.29 of 100 is 29 though binary fractions fall short of it."""
    return math.floor(share * count + 1e-9)
