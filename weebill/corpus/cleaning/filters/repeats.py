"""Filters of pairs that stood earlier in the corpus; `deduplicate` has found them."""

import numpy as np

from weebill.corpus.cleaning.deduplicate import EXACT, NEAR
from weebill.corpus.cleaning.pairs import Context, Pairs, none


def duplicate(pairs: Pairs, context: Context) -> np.ndarray:
    """A pair that stood earlier in the corpus, letter by letter after normalisation."""
    return pairs.repeats == EXACT


def near_duplicate(pairs: Pairs, context: Context) -> np.ndarray:
    """A pair that stood earlier but for case, punctuation and white space."""
    return pairs.repeats == NEAR if context.near_duplicates else none(pairs)
