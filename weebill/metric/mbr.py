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
from weebill.kernels.split_linear import inference_linear
from weebill.metric.network import Map, MetricNetwork
from weebill.metric.scorer import PRECISIONS, Scorer, Text, finite, ranges

WINDOW = 4096  # sentences encoded together, at least those of one source
PAIRS = 1024  # pairs whose features are held at once
DRAWS = 100  # attempts for each text; short sentences have few forms


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

    beside_itself: use a candidate as its own reference too.  first, kept: a cheaper utility, whose `kept` best
    candidates alone are computed with the other (Eikema & Aziz 2022).  Raises InputError if there is no candidate.
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
    """Run `decode` for each source, with some thousand candidates encoded together; options are the same."""
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
    references = list(counts)
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
        if not {source, *candidates, *references} <= self._vectors.keys():
            self.prepare(*_texts(source, [*candidates, *references]))
        translations, others = self._stacked(candidates), None
        if self._pairs.needs_references:
            same = list(candidates) == list(references)
            others = translations if same else self._stacked(references)
        with torch.inference_mode():
            scores = self._pairs.scores(translations, others, self._vectors[source])
        return finite(scores.cpu().numpy(), self._scorer.metric.name)

    def _stacked(self, texts: Sequence[str]) -> Tensor:
        return torch.stack([self._vectors[text] for text in texts])


class SentenceUtility:
    """Utility by sacreBLEU's sentence score, "bleu" or "chrf", divided by 100."""

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


class PairwiseEstimator:
    """Estimator for all pairs of n translations and m references of one source, without n·m rows of features.

    COMET's features of a pair (Rei et al. 2020) are six concatenated blocks, [t; r; t⊙r; |t−r|; t⊙s; |t−s|], and the
    estimator's first map is linear in them:

        W·features = (W₁·t + W₅·(t⊙s) + W₆·|t−s|) + W₂·r + (W₃·(t⊙r) + W₄·|t−r|)

    Only the last bracket depends on pairs, and is the same for (t, r) and (r, t): if the translations are the
    references, half of the pairs suffice.  Weights are packed once and must not change.
    """

    def __init__(
        self, network: MetricNetwork, precision: torch.dtype, device: torch.device | str = "cpu"
    ) -> None:
        """Pack a network; precision: type of the products' operands, float32 or bfloat16; all else is float32."""
        self.needs_references = network.architecture.needs_references
        self._estimator = network.estimator
        self._place = {"dtype": precision, "device": torch.device(device)}
        first, *others = network.estimator.linears
        width = first.in_features // network.architecture.blocks
        with torch.no_grad():
            own = parts = first.weight.split(width, dim=1)  # [t; s; t⊙s; |t−s|] without references
            if self.needs_references:
                own = parts[:1] + parts[4:]
                self._reference = self._packed(parts[1], None)
                self._pair = self._packed(torch.cat(parts[2:4], 1), None)
            self._own = self._packed(torch.cat(own, 1), first.bias)
            self._others = [self._packed(one.weight, one.bias) for one in others]

    def _packed(self, weight: Tensor, bias: Tensor | None) -> Map:
        bias = None if bias is None else bias.to(**self._place)
        linear = inference_linear(weight.to(**self._place), bias, rows=PAIRS)
        return lambda x: linear(x.to(self._place["dtype"])).float()

    def scores(self, translations: Tensor, references: Tensor | None, source: Tensor) -> Tensor:
        """Score every translation (n, d) against every reference (m, d) of a source (d,): (n, m).

        If `references` is `translations` itself, half of the pairs are computed; if it is None, the result is (n, 1).
        """
        source = source.expand_as(translations)
        blocks = [translations, translations * source, (translations - source).abs()]
        if not self.needs_references:
            blocks.insert(1, source)
        own = self._own(torch.cat(blocks, 1))  # terms that do not depend on references
        if references is None:
            return self._rest(own)[:, None]
        other = self._reference(references)
        count, width, place = len(translations), len(references), own.device
        same = references is translations
        if same:
            pairs = torch.triu_indices(count, count, device=place)
        else:
            numbers = (torch.arange(size, device=place) for size in (count, width))
            pairs = torch.cartesian_prod(*numbers).T
        scores = own.new_empty(count, width)
        for rows, columns in pairs.split(PAIRS, dim=1):
            t, r = translations[rows], references[columns]
            shared = self._pair(torch.cat((t * r, (t - r).abs()), 1))
            scores[rows, columns] = self._rest(own[rows] + other[columns] + shared)
            if same:
                scores[columns, rows] = self._rest(shared.add_(own[columns]).add_(other[rows]))
        return scores

    def _rest(self, hidden: Tensor) -> Tensor:
        """Continue from the first map's outputs (n, hidden) to scores (n,)."""
        return self._estimator.apply_maps(hidden, self._others, first=False)


def varied(translations: Sequence[str], count: int, seed: int = 1) -> list[str]:
    """Return `count` different texts: the translations, then their copies without some words or with moved words.

    They serve to time a choice without a model that samples.  Raises InputError if the translations are too short.
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
