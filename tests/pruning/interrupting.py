"""Prunings of real students, interrupted after every checkpoint of their trainings."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from weebill.translation.training import checkpoints


def finish_despite_interruptions(
    output: Path, make: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> int:
    """Call `make` again and again until `output` exists; return the number of interruptions."""

    class Interrupted(Exception):
        pass

    save = checkpoints.Checkpoints.save

    def save_and_stop(self, trainer):
        save(self, trainer)
        raise Interrupted

    monkeypatch.setattr(checkpoints.Checkpoints, "save", save_and_stop)
    interruptions = 0
    while not output.exists():
        torch.manual_seed(interruptions)  # results must not depend on the random state
        try:
            make()
        except Interrupted:
            interruptions += 1
    return interruptions
