"""All filters, in the order of WNGT20 §3 and WMT21 §2, each applied to the rows that the earlier ones left."""

import numpy as np

from weebill.corpus.cleaning.deduplicate import duplicate, near_duplicate
from weebill.corpus.cleaning.language_id import language_source, language_target
from weebill.corpus.cleaning.overlap import test_overlap
from weebill.corpus.cleaning.pairs import Context, Filter, Pairs
from weebill.corpus.cleaning.rules import (
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


# A batch is made smaller when so few of its rows are left; before, filters look at rejected rows too.
NARROW_AT = 0.9


def clean_batch(pairs: Pairs, context: Context) -> np.ndarray:
    """(rows,) int8: which of FILTERS, in order, first rejects each row; -1 where none does."""
    dropped_by = np.full(len(pairs), -1, np.int8)
    rows = np.arange(len(pairs))  # of `pairs`, which loses rows on the way
    for number, function in enumerate(FILTERS.values()):
        rejected = rows[function(pairs, context)]
        dropped_by[rejected[dropped_by[rejected] < 0]] = number
        left = np.flatnonzero(dropped_by[rows] < 0)
        if len(left) < NARROW_AT * len(rows):
            rows, pairs = rows[left], pairs.take(left)
            if not len(rows):
                break
    return dropped_by
