"""Verdicts of cleaning on a few pairs."""

import numpy as np

from weebill.corpus.cleaning.filters import FILTERS, clean_batch
from weebill.corpus.cleaning.pairs import Context, Pairs
from weebill.corpus.cleaning.rules import Rules
from weebill_runtime.normalisation import normalise


def verdicts(language, pairs, rules=None, source="en"):
    """Return the name of the filter that drops each pair, None for a kept pair; rules: the defaults if None."""
    sides = [
        normalise(side, code)
        for side, code in zip(zip(*pairs, strict=True), (source, language), strict=True)
    ]
    batch = Pairs(tuple(sides), (source, language), np.zeros(len(pairs), np.uint8))
    found = clean_batch(batch, Context(rules or Rules()))
    return [None if one < 0 else [*FILTERS][one] for one in found]
