"""Log probabilities of given translations, computed by a search's steps: they equal those of the search."""

from collections.abc import Sequence

import torch
from torch import Tensor

from weebill.translation.model.batch import pad
from weebill.translation.model.network import START
from weebill.translation.search.ensemble import Ensemble
from weebill_runtime.options import SearchOptions


@torch.inference_mode()
def force_decode(
    ensemble: Ensemble,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    options: SearchOptions,
    device: torch.device | str = "cpu",
) -> list[float]:
    """Return the score of each source's target, pieces with EOS last: log p / length^length_normalisation.

    Sources are cropped as in a search.
    A source of EOS alone has only the empty translation, whose score is 0; the score of any other is −inf.
    """
    cropped = [options.crop(source) for source in sources]
    scores = [0.0 if len(target) == 1 else -torch.inf for target in targets]
    lengths = [
        len(source) + len(target) if len(source) > 1 else 0
        for source, target in zip(cropped, targets, strict=True)
    ]
    for batch in options.batches(lengths):
        source, mask = (side.to(device) for side in pad([cropped[index] for index in batch]))
        target, real = (side.to(device) for side in pad([targets[index] for index in batch]))
        totals = _totals(ensemble, ensemble.start(source, mask), target, real).tolist()
        for index, total in zip(batch, totals, strict=True):
            scores[index] = total / len(targets[index]) ** options.length_normalisation
    return scores


def _totals(ensemble: Ensemble, states: list, target: Tensor, real: Tensor) -> Tensor:
    """Return log p (b,), float64, of the target's pieces (b, t); only `real` ones count."""
    tokens = torch.full_like(target[:, 0], START)
    totals = torch.zeros(len(target), dtype=torch.float64, device=target.device)
    for place in range(target.shape[1]):
        values, states = ensemble.step(tokens, states)
        tokens = target[:, place]
        log_p = ensemble.log_probabilities(values, tokens[:, None])[:, 0].double()
        totals += log_p.masked_fill(~real[:, place], 0.0)
    return totals
