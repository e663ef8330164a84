"""Minimum Bayes risk decoding: choose the candidate that is best against all others (Eikema & Aziz 2020).

Candidates are samples of the model's distribution; a candidate's expected utility is its mean utility with each of
them as the reference.  Equal candidates are computed once and weighted by their number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from weebill.errors import InputError
from weebill.metric.pairwise import PairwiseEstimator
from weebill.metric.scorer import PRECISIONS, Scorer, Text, finite

WINDOW = 4096  # sentences encoded together, at least those of one source


class Utility(Protocol):
    """Quality of a translation, given another one as the reference."""

    def of_candidates(
        self, source: str, candidates: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Return utilities (candidates, references) of different texts; higher is better."""


@dataclass(frozen=True)
class Choice:
    """Candidate with its expected utility."""

    text: str
    utility: float


def decode(
    source: str,
    candidates: Sequence[str],
    utility: Utility,
    *,
    beside_itself: bool = True,
    first: Utility | None = None,
    kept: int | None = None,
) -> list[Choice]:
    """Return the different candidates of a source by expected utility, best first; equal ones keep their order.

    beside_itself: use a candidate as its own reference too.  first, kept: a cheaper utility; only its `kept` best
    candidates are computed with the other (Eikema & Aziz 2022), with all references.
    Raises InputError if there is no candidate.
    """
    counts: dict[str, int] = {}
    for text in candidates:
        counts[text] = counts.get(text, 0) + 1
    if not counts:
        raise InputError("no candidate to choose from; give one for each source at least")
    texts = list(counts)
    if first is not None and kept is not None and kept < len(texts):
        ranked = _ranked(source, texts, counts, first, beside_itself)
        chosen = {one.text for one in ranked[:kept]}
        return _ranked(source, [t for t in texts if t in chosen], counts, utility, beside_itself)
    return _ranked(source, texts, counts, utility, beside_itself)


def decode_all(
    sources: Sequence[str], candidates: Sequence[Sequence[str]], utility: Utility, **options: Any
) -> Iterator[list[Choice]]:
    """Run `decode` for each source, with some thousand candidates encoded together; options are the same."""
    for begin, end in _windows(candidates):
        if isinstance(utility, MetricUtility):
            numbers = range(begin, end)
            texts = (_texts(sources[n], candidates[n], f" {n}") for n in numbers)
            utility.prepare(*chain.from_iterable(texts))
        for number in range(begin, end):
            yield decode(sources[number], candidates[number], utility, **options)


def _texts(source: str, candidates: Sequence[str], number: str = "") -> list[Text]:
    """Return a source and its candidates with names for warnings about long ones."""
    return [(f"source{number}", [source]), (f"candidates of source{number}", candidates)]


def _windows(candidates: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Yield first and last + 1 of sources with about WINDOW candidates together."""
    begin, count = 0, 0
    for number, some in enumerate(candidates):
        if count and count + len(some) > WINDOW:
            yield begin, number
            begin, count = number, 0
        count += len(some)
    if begin < len(candidates):  # the last may have no candidates, which `decode` refuses
        yield begin, len(candidates)


def _ranked(
    source: str, texts: list[str], counts: dict[str, int], utility: Utility, beside_itself: bool
) -> list[Choice]:
    references = list(counts)
    table = utility.of_candidates(source, texts, references).astype(np.float64)
    shares = np.array([counts[text] for text in references], dtype=np.float64)
    shares = np.broadcast_to(shares, (len(texts), len(references))).copy()
    if table.shape[1] != len(references):  # without references
        means = table[:, 0]
    else:
        if not beside_itself and shares.sum(1)[0] > 1:
            place = {text: column for column, text in enumerate(references)}
            for row, text in enumerate(texts):
                shares[row, place[text]] -= 1
        means = (table * shares).sum(1) / shares.sum(1)
    order = sorted(range(len(texts)), key=lambda row: -means[row])
    return [Choice(texts[row], float(means[row])) for row in order]


class MetricUtility:
    """Utility by a COMET model; without references it is (candidates, 1)."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._pairs = PairwiseEstimator(
            scorer.metric.network, PRECISIONS[scorer.precision], scorer.device
        )
        self._vectors: dict[str, Tensor] = {}

    def prepare(self, *texts: Text) -> None:
        """Encode the next sources and candidates, preferably many at once; forget all others."""
        texts = tuple(one for one in texts if one[1])  # leaves out sources without candidates
        found = self._scorer.vectors(*texts) if texts else []
        self._vectors = {
            line: vector
            for (_, lines), vectors in zip(texts, found, strict=True)
            for line, vector in zip(lines, vectors, strict=True)
        }

    def of_candidates(
        self, source: str, candidates: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Implement `Utility`."""
        if any(text not in self._vectors for text in (source, *candidates, *references)):
            self.prepare(*_texts(source, [*candidates, *references]))
        translations = self._stacked(candidates)
        if not self._pairs.needs_references:
            others = None
        elif list(candidates) == list(references):
            others = translations
        else:
            others = self._stacked(references)
        with torch.inference_mode():
            scores = self._pairs.scores(translations, others, self._vectors[source])
        return finite(scores.cpu().numpy(), self._scorer.metric.name)

    def _stacked(self, texts: Sequence[str]) -> Tensor:
        return torch.stack([self._vectors[text] for text in texts])


class SentenceUtility:
    """Utility by sacreBLEU's sentence score, "bleu" or "chrf", divided by 100."""

    def __init__(self, name: str, target: str | None = None) -> None:
        """Take the metric and the target language, for BLEU's tokens.  Raises InputError for another metric."""
        from sacrebleu.metrics import CHRF

        from weebill.bleu import bleu

        if name == "bleu":
            self._metric = bleu(target or "", effective_order=True)
        elif name == "chrf":
            self._metric = CHRF()
        else:
            raise InputError(f"utility '{name}', expected bleu, chrf or a COMET model")

    def of_candidates(
        self, source: str, candidates: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Implement `Utility`."""
        return np.array(
            [
                [self._metric.sentence_score(one, [other]).score / 100 for other in references]
                for one in candidates
            ]
        )
