"""Artificial candidates for timing a choice without a model that samples."""

import random
from collections.abc import Sequence

from weebill.errors import InputError

DRAWS = 100  # attempts for each text; short sentences have few forms


def varied(translations: Sequence[str], count: int, seed: int = 1) -> list[str]:
    """Return `count` different texts: the translations, then their copies without some words or with moved words.

    Raises InputError if the translations are too short.
    """
    draw, found = random.Random(seed), dict.fromkeys(translations)
    several = [words for text in translations if len(words := text.split()) > 1]
    for _ in range(DRAWS * count if several else 0):
        if len(found) >= count:
            break
        words = draw.choice(several).copy()
        for _ in range(draw.randrange(1, 4)):
            place = draw.randrange(len(words))
            moved = words.pop(place)
            if not words or draw.random() < 0.5:
                words.insert(draw.randrange(len(words) + 1), moved)
        found[" ".join(words)] = None
    if len(found) < count:
        raise InputError(
            f"{translations[0]!r} and the other translations of its source: too few words for {count} candidates; "
            "time with longer sentences, or with fewer candidates"
        )
    return list(found)[:count]
