"""Filters of sides whose language is not that of the corpus."""

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Pairs, none
from weebill.experiment.corpora import Side


def language_source(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose source is not in the source language."""
    return _wrong_language(pairs, context, "source")


def language_target(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose target is not in the target language."""
    return _wrong_language(pairs, context, "target")


def _wrong_language(pairs: Pairs, context: Context, side: Side) -> np.ndarray:
    if context.identifier is None or side not in pairs.named:
        return none(pairs)
    place = pairs.named.index(side)
    return context.identifier.reject(pairs.sides[place], pairs.languages[place])
