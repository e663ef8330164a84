"""All filters, in the order of WNGT20 §3 and WMT21 §2; each is applied to the rows that earlier filters kept."""

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Filter, Pairs
from weebill.registry import Registry

# Filters by name.  To add one, write a function in a new module, with its thresholds, if any, in a settings class
# `Thresholds`, and enter it here.  These modules load heavy libraries inside functions, because the configuration
# also reads them.
FILTERS: Registry[Filter] = Registry(
    {
        "duplicate": "weebill.corpus.cleaning.deduplicate:duplicate",
        "near_duplicate": "weebill.corpus.cleaning.deduplicate:near_duplicate",
        "empty": "weebill.corpus.cleaning.filters.counts:empty",
        "identical": "weebill.corpus.cleaning.filters.contents:identical",
        "too_long": "weebill.corpus.cleaning.filters.counts:too_long",
        "length_ratio": "weebill.corpus.cleaning.filters.counts:length_ratio",
        "letter_tokens": "weebill.corpus.cleaning.filters.counts:letter_tokens",
        "letter_characters": "weebill.corpus.cleaning.filters.counts:letter_characters",
        "long_word": "weebill.corpus.cleaning.filters.counts:long_word",
        "repetition": "weebill.corpus.cleaning.filters.counts:repetition",
        "markup": "weebill.corpus.cleaning.filters.markup:markup",
        "numbers": "weebill.corpus.cleaning.filters.numbers:numbers",
        "urls": "weebill.corpus.cleaning.filters.contents:urls",
        "garbled": "weebill.corpus.cleaning.filters.contents:garbled",
        "language_source": "weebill.corpus.cleaning.language_id:language_source",
        "language_target": "weebill.corpus.cleaning.language_id:language_target",
        "test_overlap": "weebill.corpus.cleaning.overlap:test_overlap",
    }
)


def clean_batch(pairs: Pairs, context: Context) -> np.ndarray:
    """Return the position in FILTERS of the first filter that rejects each row, (rows,) int8; -1 if none does.

    Filters do not see rows that an earlier one rejected: a line of too many numbers would take `numbers` hours.
    """
    dropped_by = np.full(len(pairs), -1, np.int8)
    rows = np.arange(len(pairs))  # numbers of the rows in `pairs`, from which rows are removed
    for number, (name, function) in enumerate(FILTERS.items()):
        if name in context.rules.disabled:
            continue
        rejected = function(pairs, context)
        if rejected.any():
            dropped_by[rows[rejected]] = number
            left = np.flatnonzero(~rejected)
            rows, pairs = rows[left], pairs.take(left)
            if not len(rows):
                break
    return dropped_by
