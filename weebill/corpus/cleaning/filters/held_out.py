"""Filter of training rows that share a side with a test or validation set."""

import numpy as np

from weebill.corpus.cleaning.normalise import folded
from weebill.corpus.cleaning.pairs import Context, Pairs, none


def test_overlap(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs with a side that also is in the held-out text; case, punctuation and white space are ignored."""
    rejected = none(pairs)
    if context.held_out is not None:
        for texts, keys in zip(pairs.sides, context.held_out.keys, strict=True):
            found = (text in keys for text in folded(texts))
            rejected |= np.fromiter(found, bool, len(texts))
    return rejected


test_overlap.__test__ = False  # pytest must not collect it because of its name
