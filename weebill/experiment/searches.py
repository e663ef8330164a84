"""Names of searches, which may replace the recipe in the name of a variant."""

import re


def search_name(beam: int) -> str:
    """Return the name of a beam search that replaces a recipe: an unpruned model with this search."""
    return "greedy" if beam == 1 else f"beam-{beam}"


def mbr_name(candidates: int) -> str:
    """Return the name of minimum Bayes risk decoding, with this number of candidates, that replaces a recipe."""
    return f"mbr-{candidates}"


def is_search(recipe: str) -> bool:
    """Return True if the name of a recipe is one that `search_name` or `mbr_name` returns."""
    return re.fullmatch(r"greedy|(beam|mbr)-[0-9]+", recipe) is not None
