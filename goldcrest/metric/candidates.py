"""Candidates for measuring how long a choice takes, where no model samples any."""

import random
from collections.abc import Sequence


def varied(translations: Sequence[str], count: int, seed: int = 1) -> list[str]:
    """`count` different texts: translations, then these with words left out or in other places."""
    draw, found = random.Random(seed), dict.fromkeys(translations)
    while len(found) < count:
        words = draw.choice(translations).split()
        for _ in range(draw.randrange(1, 4)):
            place = draw.randrange(len(words))
            moved = words.pop(place)
            if not words or draw.random() < 0.5:
                words.insert(draw.randrange(len(words) + 1), moved)
        found[" ".join(words)] = None
    return list(found)[:count]
