"""What a pruning method asks of a model family."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from weebill.pruning.structure import Prunable


class Companion(nn.Module):
    """What a method adds to a training: a penalty, gates with scores of their own.

    Its state is in its parameters and buffers, which checkpoints hold beside the model's, and the optimizer
    trains its parameters too.  rate: their learning rate throughout; None: the training's.
    """

    rate: float | None = None

    def attached(self) -> AbstractContextManager[None]:
        """While it lasts, the companion is part of the model's forward pass, if it has anything to do there."""
        return nullcontext()

    def before_update(self, update: int) -> None:
        """Called before each update of this training, counted from 1."""

    def penalty(self) -> Tensor | None:
        """What is added to an update's loss, the mean over its target words; a scalar."""
        return None

    def finish(self) -> None:
        """Write into the model's parameters, after the last update, what the method is to find there."""


class CompanionSettings(Protocol):
    """A frozen dataclass of plain values that makes a companion; `companion_registry.COMPANIONS` names its kind."""

    def companion(self, model: Prunable) -> Companion:
        """A companion of this model alone."""
        ...


class Study(Protocol):
    """One student of a family with its data.  Everything it does is a function of its seed alone."""

    seed: int

    def identity(self) -> Any:
        """Plain values that name all that its results depend on: data, weights, settings, seed."""
        ...

    def checkpoint(self, updates: int) -> Prunable:
        """A fresh copy of the whole student as it was after so many updates of training."""
        ...

    def untrained(self) -> Prunable:
        """A student with its first weights, in the shape of the pruned one that the study compares with.

        Raises InputError where the study knows none.
        """
        ...

    def train(
        self,
        model: Prunable,
        *,
        start_update: int,
        updates: int | None,
        work: Path,
        companion: CompanionSettings | None = None,
    ) -> Any:
        """Train the model in place from update `start_update` of data and learning rate on.

        updates: how many; None: to convergence, ending with the best weights of validation.
        work: a folder of this training alone; what a killed one left there is continued, and a
        finished one gives its weights again, to the same bits as an undisturbed one.
        Returns the course of the training, in the family's own form.
        """
        ...

    def observe(self, model: Prunable) -> None:
        """Run the model over the study's validation text once, without dropout or gradients."""
        ...

    def gradients(self, model: Prunable) -> Iterator[None]:
        """Go through some text of the study in batches, without dropout, leaving the weights alone.

        Whenever it yields, the parameters' `grad` is that of the last batch's loss, and of no other.
        """
        ...
