"""Losses that are not finite: a training that has diverged ends with one error, and writes no model."""

import math

import torch
from torch import Tensor

from weebill.errors import InputError


def check_loss(loss: float | Tensor, update: int) -> None:
    """Raise InputError if the loss of an update is not finite."""
    if not math.isfinite(found := float(loss)):
        raise InputError(
            f"training: the loss is {found} in update {update}; lower the learning rate"
        )


class LossFaults:
    """Watch over losses; on a GPU, they are read only now and then, because the process must wait for them."""

    def __init__(self, device: torch.device):
        self._at_once = device.type == "cpu"
        self._update = torch.zeros((), dtype=torch.long, device=device)  # of the first fault, or 0
        self._loss = torch.zeros((), device=device)

    def add(self, loss: Tensor, update: int) -> None:
        """Add the loss of an update.  Raises InputError at once on the CPU if it is not finite."""
        fault = ~torch.isfinite(loss) & (self._update == 0)
        self._update = torch.where(fault, update, self._update)
        self._loss = torch.where(fault, loss.float(), self._loss)
        if self._at_once:
            self.check()

    def check(self) -> None:
        """Raise InputError if a loss was not finite."""
        if update := int(self._update):
            check_loss(self._loss, update)
