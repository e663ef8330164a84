"""All filters, in the order of WNGT20 §3 and WMT21 §2, each applied to the rows that the earlier ones left."""

import numpy as np

from goldcrest.corpus.cleaning.deduplicate import duplicate, near_duplicate
from goldcrest.corpus.cleaning.language_id import language_source, language_target
from goldcrest.corpus.cleaning.overlap import test_overlap
from goldcrest.corpus.cleaning.pairs import Context, Filter, Pairs
from goldcrest.corpus.cleaning.rules import (
    empty,
    garbled,
    identical,
    length_ratio,
    letter_characters,
    letter_tokens,
    long_word,
    numbers,
    too_long,
    urls,
)

# By name.  A new filter is a function and an entry here.
FILTERS: dict[str, Filter] = {
    function.__name__: function
    for function in (
        duplicate,
        near_duplicate,
        empty,
        identical,
        too_long,
        length_ratio,
        letter_tokens,
        letter_characters,
        long_word,
        numbers,
        urls,
        garbled,
        language_source,
        language_target,
        test_overlap,
    )
}


def clean_batch(pairs: Pairs, context: Context) -> list[str | None]:
    """The name of the first filter that rejects each row, None where none does."""
    dropped_by: list[str | None] = [None] * len(pairs)
    left = np.arange(len(pairs))  # the rows that no filter has rejected yet
    for name, function in FILTERS.items():
        rejected = function(pairs, context)
        if rejected.any():
            for row in left[rejected].tolist():
                dropped_by[row] = name
            kept = np.flatnonzero(~rejected)
            left, pairs = left[kept], pairs.take(kept)
            if not len(left):
                break
    return dropped_by
