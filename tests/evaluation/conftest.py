"""Invented sentences, better and worse translations of them, and small generators."""

import random

import pytest

WORDS = ["der", "kleine", "Hund", "schläft", "heute", "im", "Garten", "weil", "er", "müde", "ist"]


def damaged(lines: list[str], share: float, seed: int = 1) -> list[str]:
    """Replace each word with probability `share`."""
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


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Make a small BART and a small GPT-2: (folder, imported data) by name."""
    from tests.generation.small import make, news, running_text  # imports transformers

    folder = tmp_path_factory.mktemp("made")
    data = {"bart": news(folder), "gpt2": running_text(folder)}
    return {name: (make(folder, name, text), text) for name, text in data.items()}
