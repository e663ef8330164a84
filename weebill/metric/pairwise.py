"""Estimator for all pairs of n translations and m references of one source, without n·m rows of features.

COMET's features of a pair are six concatenated blocks, [t; r; t⊙r; |t−r|; t⊙s; |t−s|], and the estimator's first map
is linear in them:

    W·features = (W₁·t + W₅·(t⊙s) + W₆·|t−s|) + W₂·r + (W₃·(t⊙r) + W₄·|t−r|)

The first bracket is computed once for each translation, W₂·r once for each reference; only two of six blocks depend
on pairs.  They are the same for (t, r) and (r, t): if the translations are the references, half of them suffice.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from weebill.kernels.split_linear import inference_linear
from weebill.metric.network import Map, MetricNetwork

PAIRS = 1024  # pairs whose features are held at once


class PairwiseEstimator:
    """Estimator of pairs of sentence vectors (Rei et al. 2020); weights are packed once and must not change."""

    def __init__(
        self,
        network: MetricNetwork,
        precision: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        """Pack a network; precision: type of the products' operands, float32 or bfloat16; all else is float32."""
        self.needs_references = network.architecture.needs_references
        self._estimator = network.estimator
        self._precision, self._device = precision, torch.device(device)
        first, *others = network.estimator.linears
        width = first.in_features // network.architecture.blocks
        with torch.no_grad():
            parts = first.weight.split(width, dim=1)
            if self.needs_references:
                own, reference, with_reference = parts[:1] + parts[4:], parts[1], parts[2:4]
                self._reference = self._ready(reference, None)
                self._pair = self._ready(torch.cat(with_reference, 1), None)
            else:
                own = parts  # [t; s; t⊙s; |t−s|]
            self._own = self._ready(torch.cat(own, 1), first.bias)
            self._others = [self._ready(one.weight, one.bias) for one in others]

    def scores(self, translations: Tensor, references: Tensor | None, source: Tensor) -> Tensor:
        """Score every translation (n, d) against every reference (m, d) of a source (d,): (n, m).

        If `references` is `translations` itself, half of the pairs are computed.  A metric without references
        gives (n, 1).
        """
        own = self._of_translations(translations, source)
        if references is None:
            return self._rest(own)[:, None]
        other = self._product(self._reference, references)
        count, width = len(translations), len(references)
        scores = own.new_empty(count, width)
        same = references is translations
        for rows, columns in _pairs(count, width, same, own.device):
            t, r = translations[rows], references[columns]
            shared = self._product(self._pair, torch.cat((t * r, (t - r).abs()), 1))
            scores[rows, columns] = self._rest(own[rows] + other[columns] + shared)
            if same:
                scores[columns, rows] = self._rest(shared.add_(own[columns]).add_(other[rows]))
        return scores

    def _of_translations(self, translations: Tensor, source: Tensor) -> Tensor:
        """Compute the terms that do not depend on references: (n, d) → (n, hidden)."""
        source = source.expand_as(translations)
        blocks = [translations, translations * source, (translations - source).abs()]
        if not self.needs_references:
            blocks.insert(1, source)
        return self._product(self._own, torch.cat(blocks, 1))

    def _rest(self, hidden: Tensor) -> Tensor:
        """Continue from the first map's outputs (n, hidden) to scores (n,)."""
        maps = (partial(self._product, one) for one in self._others)
        return self._estimator.apply_maps(hidden, maps, first=False)

    def _ready(self, weight: Tensor, bias: Tensor | None) -> Map:
        place = {"dtype": self._precision, "device": self._device}
        bias = None if bias is None else bias.to(**place)
        return inference_linear(weight.to(**place), bias, rows=PAIRS)

    def _product(self, linear: Map, x: Tensor) -> Tensor:
        return linear(x.to(self._precision)).float()


def _pairs(
    rows: int, columns: int, same: bool, device: torch.device
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield all pairs of a row and a column, in parts; only those of i ≤ j if rows are the columns."""
    if same:
        first, second = torch.triu_indices(rows, rows, device=device)
    else:
        first, second = torch.cartesian_prod(
            torch.arange(rows, device=device), torch.arange(columns, device=device)
        ).unbind(1)
    yield from zip(first.split(PAIRS), second.split(PAIRS), strict=True)
