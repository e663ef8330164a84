"""Filters that drop so much of a corpus that their settings may not fit it."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from weebill.corpus.cleaning.filters import FILTERS, clean_batch
from weebill.corpus.cleaning.pairs import Context, Pairs
from weebill.corpus.cleaning.preparation import prepare
from weebill_runtime.normalisation import Punctuation

GREAT = 1 / 3  # share of a corpus; a loss above it is reported
FEW = 0.1  # share of a corpus; if less is kept, its sides may be exchanged
FEWEST = 100  # fewest rows for which a share is meaningful
# Filters that drop needless rows rather than bad ones: a corpus may consist of repeats, which the others do not see.
REPEATS = ("duplicate", "near_duplicate")
NEEDLESS = (*REPEATS, "test_overlap")


def great_losses(dropped: Mapping[str, int], rows: int) -> list[str]:
    """Return a line for each filter that drops more than a third of the rows that are no repeats.

    There are no lines for fewer than 100 such rows.  dropped: number of dropped rows by filter.
    """
    rows -= sum(dropped.get(name, 0) for name in REPEATS)
    if rows < FEWEST:
        return []
    return [
        f"the filter '{name}' drops {count:,} of {rows:,} rows ({count / rows:.0%}); look at its examples in the "
        f"cleaning report; {_remedy(name)}, `cleaning.rules.disabled: [{name}]` turns it off"
        for name, count in dropped.items()
        if count > GREAT * rows and name in FILTERS and name not in NEEDLESS
    ]


def _remedy(name: str) -> str:
    if name.startswith("language_"):
        return "`cleaning.language_id` has its settings"
    if name.startswith("letter_"):
        return (
            "if the text is in another script, name it in `languages`, as in sr-Latn; "
            "`cleaning.rules` has the thresholds"
        )
    return "`cleaning.rules` has its thresholds"


def losses_of_sample(
    pairs: Sequence[tuple[str, str]],
    languages: tuple[str, str],
    context: Context,
    punctuation: Punctuation | None = None,
) -> list[str]:
    """Clean some pairs of a corpus, without a search for repeats, and return the lines of `great_losses`.

    The only line for a corpus whose sides are exchanged says so.
    """
    sides = tuple(zip(*pairs, strict=True))
    found = verdicts(sides, languages, context, punctuation)
    lines = great_losses(Counter(filter(None, found)), len(pairs))
    if lines and found.count(None) < FEW * len(pairs):
        exchanged = verdicts(sides[::-1], languages, context, punctuation).count(None)
        if exchanged > len(pairs) / 2:
            return [
                f"{exchanged:,} of {len(pairs):,} would be kept if its sides were exchanged, now "
                f"{found.count(None):,}; exchange its source and target"
            ]
    return lines


def verdicts(
    sides: tuple[Sequence[str], Sequence[str]],
    languages: tuple[str, str],
    context: Context,
    punctuation: Punctuation | None = None,
) -> list[str | None]:
    """Return the name of the filter that drops each pair, None for a kept pair; repeats are not searched."""
    texts = tuple(
        prepare([*side], language, context.rules, punctuation)
        for side, language in zip(sides, languages, strict=True)
    )
    found = clean_batch(Pairs(texts, languages, np.zeros(len(texts[0]), np.uint8)), context)
    return [None if one < 0 else list(FILTERS)[one] for one in found.tolist()]
