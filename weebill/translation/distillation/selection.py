"""Selection of the hypothesis nearest to the reference, by sentence BLEU."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import cache, lru_cache
from itertools import chain, repeat

from weebill.bleu import bleu

ORDERS = 4  # largest n-gram order in sentence BLEU
ROWS = 1024  # rows in which one process selects at a time


def select(
    rows: Sequence[Sequence[str]],
    references: Sequence[str | None],
    language: str = "",
    pool: Executor | None = None,
) -> list[int]:
    """Return the index of each row's `best_hypothesis`, or of its first one if it has no reference.

    pool: of processes that share the work; None: this process does it alone.
    """
    call = map if pool is None else pool.map
    parts = (
        [whole[first : first + ROWS] for first in range(0, len(whole), ROWS)]
        for whole in (rows, references)
    )
    return list(chain.from_iterable(call(_select, *parts, repeat(language))))


def _select(
    rows: Sequence[Sequence[str]], references: Sequence[str | None], language: str
) -> list[int]:
    return [
        0 if reference is None else best_hypothesis(hypotheses, reference, language)
        for hypotheses, reference in zip(rows, references, strict=True)
    ]


def sentence_bleu(hypothesis: str, reference: str, language: str = "") -> float:
    """Compute BLEU in [0, 1], with 1 added to the matches and to the totals of each n-gram order from 1 to 4.

    The hypothesis has m_n matches among t_n n-grams, and c tokens; the reference has r tokens (cased, by sacreBLEU's
    tokenizer of the language):
    BLEU = min(1, exp(1 − r / c)) · (Π_n (m_n + 1) / (t_n + 1))^(1/4).  An empty hypothesis scores 0.
    """
    found, expected = _ngrams(hypothesis, language), _ngrams(reference, language)
    length = found[0].total()
    if not length:
        return 0.0
    log_precision = 0.0
    for ours, theirs in zip(found, expected, strict=True):
        matches = sum(min(count, theirs[ngram]) for ngram, count in ours.items() if ngram in theirs)
        log_precision += math.log((matches + 1) / (ours.total() + 1)) / ORDERS
    return math.exp(min(0.0, 1 - expected[0].total() / length) + log_precision)


def best_hypothesis(hypotheses: Sequence[str], reference: str, language: str = "") -> int:
    """Return the index of the hypothesis with the highest `sentence_bleu`; of equal ones, the first."""
    scores = [sentence_bleu(hypothesis, reference, language) for hypothesis in hypotheses]
    return scores.index(max(scores))


@cache
def _tokenizer(language: str) -> Callable[[str], str]:
    return bleu(language).tokenizer


@lru_cache(64)  # all hypotheses of a row share a reference, which is counted once
def _ngrams(text: str, language: str) -> list[Counter]:
    tokens = _tokenizer(language)(text).split()
    starts = [tokens[start:] for start in range(ORDERS)]
    return [Counter(zip(*starts[:order], strict=False)) for order in range(1, ORDERS + 1)]
