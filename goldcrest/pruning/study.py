"""What a pruning method asks of a model family, and what it gives back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from goldcrest.pruning.structure import Prunable


class Study(Protocol):
    """One student of a family with its data.  Everything it does is a function of its seed alone."""

    def identity(self) -> Any:
        """Plain values that name all that its results depend on: data, weights, settings, seed."""
        ...

    def checkpoint(self, updates: int) -> Prunable:
        """A fresh copy of the whole student as it was after so many updates of training."""
        ...

    def train(self, model: Prunable, *, start_update: int, updates: int | None, work: Path) -> Any:
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


@dataclass(frozen=True)
class Pruned:
    """A pruned and trained model.

    history: what went when, plain values for JSON.  course: what `Study.train` returned at the end.
    """

    model: Prunable
    history: dict[str, Any]
    course: Any


class Method(Protocol):
    """A way to prune: a frozen dataclass of its settings.

    reset_to: the update of the student's training at which the method takes over.
    """

    reset_to: int

    def prune(self, study: Study, work: Path) -> Pruned:
        """Prune the study's student.  work: a folder for its state, by which a killed run goes on."""
        ...
