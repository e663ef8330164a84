"""Quick seeded choices."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Quick seeded choices."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed).random

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[int(self.random() * len(items))]

    def chance(self, probability: float) -> bool:
        """True with that probability."""
        return self.random() < probability

    def between(self, low: int, high: int) -> int:
        """An integer in low..high, both included."""
        return low + int(self.random() * (high - low + 1))
