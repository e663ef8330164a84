"""Filters of pairs that repeat an earlier pair of the corpus; `deduplicate` has found them."""

import numpy as np

from weebill.corpus.cleaning.deduplicate import EXACT, NEAR
from weebill.corpus.cleaning.pairs import Context, Pairs, none


def duplicate(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose normalised text equals that of an earlier pair of the corpus."""
    return pairs.repeats == EXACT


def near_duplicate(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs that equal an earlier pair if case, punctuation and white space are ignored."""
    return pairs.repeats == NEAR if context.near_duplicates else none(pairs)
