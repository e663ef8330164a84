"""A study of a small random model of any family, trained with plain Adam without dropout."""

import copy
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import Tensor

from tests.hugging_face.small import HEADS, small_batch, small_model
from weebill.hugging_face.families import Family, prunable
from weebill.pruning.cut import cut
from weebill.pruning.study import CompanionSettings

RATE = 1e-3
CONVERGENCE = 2  # updates
VALIDATION = (101, 102)  # seeds of batches
_CHECKPOINTS = {}  # made once for each key


class FamilyStudy:
    """Study with the library's own loss for the family: of the next pieces, or of a regression.

    Trainings keep no checkpoints, because no test kills them.
    """

    def __init__(self, family: str, seed: int = 1):
        self.family, self.seed = family, seed

    def identity(self):
        return {"family": self.family, "seed": self.seed}

    def checkpoint(self, updates: int) -> Family:
        key = type(self), self.family, self.seed, updates
        if key not in _CHECKPOINTS:
            model = prunable(small_model(self.family, self.seed))
            self.train(model, start_update=0, updates=updates)
            _CHECKPOINTS[key] = model.model
        return prunable(copy.deepcopy(_CHECKPOINTS[key]))

    def untrained(self) -> Family:
        """Return a model with other initial weights; the first block lacks a head, as if pruned."""
        model = prunable(small_model(self.family, self.seed + 1))
        cut(model, {model.attention_blocks()[0].name: [HEADS - 1]})
        return model

    def train(
        self,
        model: Family,
        *,
        start_update: int,
        updates: int | None,
        work: Path | None = None,
        companion: CompanionSettings | None = None,
    ) -> dict[str, int]:
        updates = CONVERGENCE if updates is None else updates
        model.model.eval()
        accompanied = companion and companion.companion(model)
        groups = [{"params": [p for p in model.model.parameters() if p.requires_grad], "lr": RATE}]
        if accompanied and list(accompanied.parameters()):
            rate = accompanied.rate or RATE
            groups.append({"params": list(accompanied.parameters()), "lr": rate})
        optimizer = torch.optim.Adam(groups)
        with accompanied.attached() if accompanied else nullcontext():
            for update in range(1, updates + 1):
                optimizer.zero_grad()
                if accompanied:
                    accompanied.before_update(update)
                self.loss(model, start_update + update).backward()
                if accompanied and (penalty := accompanied.penalty()) is not None:
                    penalty.backward()
                optimizer.step()
        if accompanied:
            accompanied.finish()
        return {"updates": updates}

    def loss(self, model: Family, seed: int) -> Tensor:
        """Return the loss for the batch of a seed, which is an update's number or one of VALIDATION."""
        return model.model(**small_batch(self.family, seed)).loss

    def observe(self, model: Family) -> None:
        model.model.eval()
        with torch.inference_mode():
            for seed in VALIDATION:
                self.loss(model, seed)

    def gradients(self, model: Family) -> Iterator[None]:
        model.model.eval()
        for seed in VALIDATION:
            model.model.zero_grad()
            self.loss(model, seed).backward()
            yield
        model.model.zero_grad()
