"""Course of a training by unbabel-comet: the batches of each epoch, validations, checkpoints and patience.

This module imports only what the environment `comet` has, and its special packages inside functions.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from weebill.files import atomic_path
from weebill.kernels.loss_faults import LossFaults
from weebill.metric.settings import RegressionSettings
from weebill.metric.training_table import TEXTS
from weebill.workflow.progress import tell

WINDOW = 50  # batches sorted by length together
LAST, BEST = "last.ckpt", "best.ckpt"  # in the work folder
STATE = "weebill"  # key in these checkpoints, for what Lightning does not keep


class Batches:
    """Sampler of batches of similar length as rows (b,); a function of seed and epoch."""

    def __init__(self, table: pd.DataFrame, size: int, seed: int) -> None:
        texts = [name for name in TEXTS if name in table]
        self._lengths = sum(table[name].str.len().to_numpy() for name in texts)
        self._size, self._seed = size, seed
        self.epoch, self.first = 0, 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch; Lightning calls this before each epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self._lengths) // self._size)

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the batches of the epoch from number `first` on; later epochs start at 0."""
        draw = np.random.default_rng((self._seed, self.epoch))
        order = draw.permutation(len(self._lengths))
        window = np.arange(len(order)) // (WINDOW * self._size)
        order = order[np.lexsort((order, self._lengths[order], window))]
        cuts = np.arange(0, len(order), self._size)
        first, self.first = self.first, 0
        for begin in draw.permutation(cuts)[first:]:
            yield order[begin : begin + self._size].tolist()


def course_of(settings: RegressionSettings, seed: int, work: Path, batches: Batches) -> Any:
    """Make Lightning's callback for seeds, validations, checkpoints and patience."""
    from pytorch_lightning.callbacks import Checkpoint

    class Course(Checkpoint):  # Lightning runs checkpoints after all other callbacks
        def __init__(self) -> None:
            self.history: list[dict[str, float]] = []

        def on_train_start(self, trainer: Any, model: Any) -> None:
            """Stop if the patience has ended, also in a resumed run."""
            self._faults = LossFaults(model.device)
            if settings.patience and self._waited() >= settings.patience:
                trainer.should_stop = True

        def on_train_batch_start(self, trainer: Any, model: Any, batch: Any, index: int) -> None:
            torch.manual_seed(hash((seed, trainer.current_epoch, index)) % 2**63)

        def on_train_batch_end(
            self, trainer: Any, model: Any, outputs: Any, batch: Any, index: int
        ) -> None:
            begun = trainer.current_epoch * -(-len(batches) // settings.accumulate)
            self._faults.add(outputs["loss"].detach(), begun + index // settings.accumulate + 1)
            updates, waiting = divmod(index + 1, settings.accumulate)
            due = not waiting and updates % settings.checkpoint_every == 0
            if due and index + 1 < len(batches):
                self._save(trainer, index + 1)
            done = trainer.current_epoch * len(batches) + index + 1
            tau = f"Kendall's τ {self.history[-1]['kendall']:.3f}" if self.history else ""
            tell(done, settings.epochs * len(batches), "batches", tau)

        def on_train_epoch_end(self, trainer: Any, model: Any) -> None:
            self._faults.check()
            self.history.append({"epoch": trainer.current_epoch + 1, "kendall": model.kendall})
            logging.info("epoch %d: Kendall's τ %.4f", trainer.current_epoch + 1, model.kendall)
            if not self._waited():
                with atomic_path(work / BEST) as partial:
                    trainer.save_checkpoint(partial, weights_only=True)
            self.on_train_start(trainer, model)
            self._save(trainer, 0)

        def _save(self, trainer: Any, batch: int) -> None:
            self._faults.check()
            self.batch = batch
            with atomic_path(work / LAST) as partial:
                trainer.save_checkpoint(partial)

        def _waited(self) -> int:
            """Return the number of epochs since the best one."""
            best = max(self.history, key=lambda row: row["kendall"], default={"epoch": 0})
            return len(self.history) - best["epoch"]

        def on_save_checkpoint(self, trainer: Any, model: Any, checkpoint: dict) -> None:
            checkpoint[STATE] = {
                "history": self.history,
                "batch": self.batch,
                "frozen": model._frozen,
                "epochs": model.epoch_nr,
            }

        def on_load_checkpoint(self, trainer: Any, model: Any, checkpoint: dict) -> None:
            state = checkpoint[STATE]
            self.history, batches.first = state["history"], state["batch"]
            model.epoch_nr = state["epochs"]
            if not state["frozen"]:
                model.unfreeze_encoder()

    return Course()
