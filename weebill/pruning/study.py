"""Interface between pruning methods and model families."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from weebill.pruning.structure import Prunable


class Companion(nn.Module):
    """Addition of a method to a training: a penalty, or gates with scores.

    Checkpoints contain its parameters and buffers; the optimizer trains the parameters, at `rate` if it is given.
    """

    rate: float | None = None

    def attached(self) -> AbstractContextManager[None]:
        """Make the companion part of the model's forward pass within the context, if it changes the forward pass."""
        return nullcontext()

    def before_update(self, update: int) -> None:
        """Prepare an update of this training, counted from 1; the training calls this before each update."""

    def penalty(self) -> Tensor | None:
        """Return the addition to an update's loss, which is a mean over target words: a scalar, or None."""
        return None

    def finish(self) -> None:
        """Write the result into the model's parameters after the last update, for the method to read."""


class CompanionSettings(Protocol):
    """Frozen dataclass of plain values that makes a companion; `methods.COMPANIONS` names its kind."""

    def companion(self, model: Prunable) -> Companion:
        """Make a companion for this model alone."""


class Study(Protocol):
    """Student of a family with its data.  All its results are functions of its seed alone."""

    seed: int

    def identity(self) -> Any:
        """Return plain values that identify everything that its results depend on: data, weights, settings, seed."""

    def checkpoint(self, updates: int) -> Prunable:
        """Return a fresh copy of the whole student as it was after `updates` updates of training."""

    def untrained(self) -> Prunable:
        """Return a student with initial weights in the shape of the compared one; InputError if there is none."""

    def train(
        self,
        model: Prunable,
        *,
        start_update: int,
        updates: int | None,
        work: Path,
        companion: CompanionSettings | None = None,
    ) -> Any:
        """Train the model in place, with data and learning rates from update `start_update` on.

        updates: number of updates; None: to convergence, ending with the weights of the best validation.
        work: a folder for this training alone.  A killed training continues from its files there, and a finished one
        returns its weights again; the bits equal those of an uninterrupted training.
        Returns the course of the training, in the family's own form.
        """

    def observe(self, model: Prunable) -> None:
        """Run the model over the study's validation text once, without dropout or gradients."""

    def gradients(self, model: Prunable) -> Iterator[None]:
        """Yield after the backward pass of each batch, with its gradients in `grad`; weights do not change."""
