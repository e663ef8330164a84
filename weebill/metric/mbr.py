"""Minimum Bayes risk decoding: choose the candidate that is best against all others (Eikema & Aziz 2020).

Candidates are samples of the model's distribution; a candidate's expected utility is its mean utility with each of
them as the reference.  Equal candidates are computed once and weighted by their number.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np
import torch
from sacrebleu.metrics import CHRF
from torch import Tensor

from weebill.bleu import bleu
from weebill.errors import InputError
from weebill.metric.architecture import RANKING
from weebill.metric.joint import Segment
from weebill.metric.pairs import PairwiseDistance, PairwiseEstimator
from weebill.metric.reader import PRECISIONS, ranges
from weebill.metric.scorer import Scorer, finite
from weebill.metric.sentence_vectors import Text

WINDOW = 4096  # sentences encoded together, at least those of one source
DRAWS = 100  # attempts for each text; short sentences have few forms


class Utility(Protocol):
    """Quality of a translation, given another one as the reference.

    aggregates: True if it compares with the mean of all references, which may then be given several times.
    """

    aggregates: bool

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
    candidates are computed with `utility` (Eikema & Aziz 2022).  Raises InputError if there is no candidate.
    """
    counts = Counter(candidates)
    if not counts:
        raise InputError("no candidate to choose from; give one for each source at least")
    texts = list(counts)
    if first is not None and kept is not None and kept < len(texts):
        best = {one.text for one in _ranked(source, texts, counts, first, beside_itself)[:kept]}
        texts = [text for text in texts if text in best]
    return _ranked(source, texts, counts, utility, beside_itself)


def decode_all(
    sources: Sequence[str], candidates: Sequence[Sequence[str]], utility: Utility, **options: Any
) -> Iterator[list[Choice]]:
    """Run `decode` for each source, with some thousand candidates encoded together; options: those of `decode`."""
    for part in ranges([len(some) for some in candidates], WINDOW):
        numbers = range(len(candidates))[part]
        if isinstance(utility, MetricUtility):
            texts = (_texts(sources[n], candidates[n], f" {n}") for n in numbers)
            utility.prepare(*chain.from_iterable(texts))
        for number in numbers:
            yield decode(sources[number], candidates[number], utility, **options)


def _texts(source: str, candidates: Sequence[str], number: str = "") -> list[Text]:
    """Return a source and its candidates with names for warnings about long ones."""
    return [(f"source{number}", [source]), (f"candidates of source{number}", candidates)]


def _ranked(
    source: str, texts: list[str], counts: Counter[str], utility: Utility, beside_itself: bool
) -> list[Choice]:
    # A mean of references counts equal ones several times.
    references = list(counts.elements() if utility.aggregates else counts)
    table = utility.of_candidates(source, texts, references).astype(np.float64)
    if table.shape[1] != len(references):  # without references
        means = table[:, 0]
    else:
        shares = np.tile(np.array([*counts.values()], dtype=np.float64), (len(texts), 1))
        if not beside_itself and counts.total() > 1:
            for row, text in enumerate(texts):
                shares[row, references.index(text)] -= 1
        means = (table * shares).sum(1) / shares.sum(1)
    return [Choice(texts[row], float(means[row])) for row in np.argsort(-means, kind="stable")]


class MetricUtility:
    """Utility by a COMET model; without references, or with the mean of them, it is (candidates, 1)."""

    def __init__(self, scorer: Scorer, *, aggregate: bool = False) -> None:
        """Take a scorer; aggregate: compare with the mean vector of the references (Vamvas and Sennrich 2024).

        Raises InputError if the mean is requested, but the model has no vectors of references.
        """
        if aggregate and not (
            scorer.needs_references and scorer.metric.network.architecture.joint is None
        ):
            raise InputError(
                f"{scorer.metric.name}: has no vectors of references whose mean it could take"
            )
        self.aggregates = aggregate
        self._scorer, self._architecture = scorer, scorer.metric.network.architecture
        self._pairs: PairwiseEstimator | PairwiseDistance | None = None
        if self._architecture.kind == RANKING:
            self._pairs = PairwiseDistance()
        elif self._architecture.joint is None:
            self._pairs = PairwiseEstimator(
                scorer.metric.network, PRECISIONS[scorer.precision], scorer.device
            )
        else:
            self._joint = scorer.joint_scorer(log_first=True)
        self._vectors: dict[str, Tensor] = {}

    def prepare(self, *texts: Text) -> None:
        """Encode the next sources and candidates, preferably many at once; forget all others."""
        if self._pairs is None:  # a text has no vector of its own
            return
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
        if self._pairs is None:
            return self._together(source, candidates, references)
        if not {source, *candidates, *references} <= self._vectors.keys():
            self.prepare(*_texts(source, [*candidates, *references]))
        translations, others = self._stacked(candidates), None
        if self._pairs.needs_references:
            same = list(candidates) == list(references) and not self.aggregates
            others = translations if same else self._stacked(references)
            if self.aggregates:
                others = others.mean(0, keepdim=True)
        with torch.inference_mode():
            scores = self._pairs.scores(translations, others, self._vectors[source])
        return finite(scores.cpu().numpy(), self._scorer.metric.name)

    def _together(
        self, source: str, candidates: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Score all pairs by a model that encodes the texts of a segment together."""
        others = references if self._scorer.needs_references else [None]
        own = source if self._scorer.needs_sources else None
        name = f"candidates of {source!r:.40}"
        places = {
            Segment(one, own, other): (name, number)
            for number, one in enumerate(candidates, start=1)
            for other in others
        }
        judged = self._joint.judge(places, lambda sequences: None)
        scores = np.float32([judged[segment].score for segment in places])
        return finite(scores, self._scorer.metric.name).reshape(len(candidates), len(others))

    def _stacked(self, texts: Sequence[str]) -> Tensor:
        return torch.stack([self._vectors[text] for text in texts])


class SentenceUtility:
    """Utility by sacreBLEU's sentence score, "bleu" or "chrf", divided by 100."""

    aggregates = False

    def __init__(self, name: str, target: str | None = None) -> None:
        """Take the metric and the target language, for BLEU's tokens.  Raises InputError for another metric."""
        if name not in ("bleu", "chrf"):
            raise InputError(f"utility '{name}', expected bleu, chrf or a COMET model")
        self._metric = bleu(target or "", effective_order=True) if name == "bleu" else CHRF()

    def of_candidates(
        self, source: str, candidates: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Implement `Utility`."""
        score = self._metric.sentence_score
        return np.array(
            [[score(one, [other]).score / 100 for other in references] for one in candidates]
        )


def varied(translations: Sequence[str], count: int, seed: int = 1) -> list[str]:
    """Return `count` different texts: the translations, then their copies without some words or with moved words.

    They let a choice be timed without a model that samples.  Raises InputError if the translations are too short.
    """
    draw, found = random.Random(seed), dict.fromkeys(translations)
    several = [words for text in translations if len(words := text.split()) > 1]
    for _ in range(DRAWS * count if several else 0):
        if len(found) >= count:
            break
        words = draw.choice(several).copy()
        for _ in range(draw.randrange(1, 4)):
            place = draw.randrange(len(words))
            moved = words.pop(place)
            if not words or draw.random() < 0.5:
                words.insert(draw.randrange(len(words) + 1), moved)
        found[" ".join(words)] = None
    if len(found) < count:
        raise InputError(
            f"{translations[0]!r} and the other translations of its source: too few words for {count} candidates; "
            "time with longer sentences, or with fewer candidates"
        )
    return list(found)[:count]
