"""Sentence scores of the lexical metrics BLEU and chrF, by sacreBLEU."""

from collections.abc import Callable, Sequence

import numpy as np
from sacrebleu.metrics import CHRF
from sacrebleu.metrics.base import Metric

from weebill.bleu import bleu
from weebill.errors import InputError, nearest

LEXICAL: dict[str, Callable[[str], Metric]] = {"BLEU": bleu, "chrF": lambda target: CHRF()}


def lexical_signature(metric: str, targets: Sequence[str] = ("",)) -> str:
    """Return sacreBLEU's signature of sentence scores; several if BLEU's tokens differ by target language."""
    found = []
    for target in sorted(set(targets)):
        one = LEXICAL[metric](target)
        Metric.sentence_score(one, "", [""])  # sets the number of references in the signature
        found.append(one.get_signature().format())
    return " + ".join(dict.fromkeys(found))


def lexical_scores(
    metric: str, hypotheses: Sequence[str], references: Sequence[str], targets: Sequence[str] = ()
) -> np.ndarray:
    """Return sentence scores (n,), 0 to 100; targets: languages.  Raises InputError for other metrics."""
    if metric not in LEXICAL:
        raise InputError(f"metric '{metric}', expected BLEU or chrF{nearest(metric, LEXICAL)}")
    targets = targets or [""] * len(hypotheses)
    of = {target: LEXICAL[metric](target) for target in set(targets)}
    # BLEU's own method does the same, but at each sentence recommends effective_order, with which short ones
    # score higher and correlations differ from the published ones.
    score = Metric.sentence_score
    texts = zip(targets, hypotheses, references, strict=True)
    return np.array([score(of[target], one, [reference]).score for target, one, reference in texts])
