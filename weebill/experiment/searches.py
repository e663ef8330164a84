"""Names of searches, which may stand for a recipe in the name of a variant."""

import re


def search_name(beam: int) -> str:
    """What a search is called where it stands for a recipe: an unpruned model, searched so."""
    return "greedy" if beam == 1 else f"beam-{beam}"


def mbr_name(candidates: int) -> str:
    """What the choice of so many samples by minimum Bayes risk is called there."""
    return f"mbr-{candidates}"


def is_search(recipe: str) -> bool:
    """Whether the name of a recipe is one of `search_name` or `mbr_name`."""
    return re.fullmatch(r"greedy|(beam|mbr)-[0-9]+", recipe) is not None
