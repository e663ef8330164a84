"""Scores of all pairs of translations and references of one source, by vectors of sentences."""

import torch
from torch import Tensor
from torch.nn import functional

from weebill.kernels.split_linear import inference_linear
from weebill.metric.network import Map, MetricNetwork, nearness

PAIRS = 1024  # pairs whose features are held at once


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
        """Pack a network; precision: type of the operands, float32 or bfloat16, of all products but the last."""
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
            # Its outputs are the scores; bfloat16 would make many of them equal.
            self._others[-1] = self._packed(others[-1].weight, others[-1].bias, torch.float32)

    def _packed(self, weight: Tensor, bias: Tensor | None, dtype: torch.dtype | None = None) -> Map:
        place = {**self._place, "dtype": dtype or self._place["dtype"]}
        bias = None if bias is None else bias.to(**place)
        linear = inference_linear(weight.to(**place), bias, rows=PAIRS)
        return lambda x: linear(x.to(place["dtype"])).float()

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


class PairwiseDistance:
    """Scores of a ranking model for all pairs of translations and references of one source."""

    needs_references = True

    def scores(self, translations: Tensor, references: Tensor, source: Tensor) -> Tensor:
        """Score every translation (n, d) against every reference (m, d) of a source (d,): (n, m)."""
        from_source = functional.pairwise_distance(translations, source)
        from_references = torch.stack(
            [functional.pairwise_distance(translations, one) for one in references], 1
        )
        return nearness(from_source[:, None], from_references)
