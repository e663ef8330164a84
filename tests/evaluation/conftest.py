"""Invented sentences, and systems that translate them more or less well."""

import random

import pytest

WORDS = ["der", "kleine", "Hund", "schläft", "heute", "im", "Garten", "weil", "er", "müde", "ist"]


def damaged(lines: list[str], share: float, seed: int = 1) -> list[str]:
    """Each word replaced with probability `share`."""
    generator = random.Random(seed)
    return [
        " ".join(w if generator.random() >= share else "Unsinn" for w in line.split())
        for line in lines
    ]


@pytest.fixture(scope="session")
def references() -> list[str]:
    generator = random.Random(7)
    return [
        " ".join(generator.choices(WORDS, k=generator.randint(5, 14))).capitalize() + "."
        for _ in range(120)
    ]
