"""BLEU of single sentences, by which distillation selects one of a teacher's hypotheses."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from weebill.bleu import bleu

ORDERS = 4


def sentence_bleu(hypothesis: str, reference: str, language: str = "") -> float:
    """Compute BLEU, in [0, 1], with 1 added to the matches and totals of every order, 1 to 4.

    With m_n matches among t_n n-grams, c tokens of the hypothesis and r of the reference (by sacreBLEU's tokenizer of
    the language, cased):
    BLEU = min(1, exp(1 − r / c)) · (Π_n (m_n + 1) / (t_n + 1))^(1/4).  An empty hypothesis scores 0.
    """
    return _bleu(_ngrams(hypothesis, language), _ngrams(reference, language))


def best_hypothesis(hypotheses: Sequence[str], reference: str, language: str = "") -> int:
    """Return the index of the hypothesis closest to the reference by `sentence_bleu`; the first of equals."""
    known = _ngrams(reference, language)
    scores = [_bleu(_ngrams(hypothesis, language), known) for hypothesis in hypotheses]
    return scores.index(max(scores))


def _bleu(hypothesis: list[Counter], reference: list[Counter]) -> float:
    length = hypothesis[0].total()
    if not length:
        return 0.0
    log_precision = 0.0
    for ours, theirs in zip(hypothesis, reference, strict=True):
        matches = sum(min(count, theirs[ngram]) for ngram, count in ours.items() if ngram in theirs)
        log_precision += math.log((matches + 1) / (ours.total() + 1)) / ORDERS
    return math.exp(min(0.0, 1 - reference[0].total() / length) + log_precision)


@cache
def _tokenizer(language: str) -> Callable[[str], str]:
    return bleu(language).tokenizer


def _ngrams(text: str, language: str) -> list[Counter]:
    """Count the n-grams of each order."""
    tokens = _tokenizer(language)(text).split()
    return [
        Counter(zip(*(tokens[start:] for start in range(order)), strict=False))
        for order in range(1, ORDERS + 1)
    ]
