"""Checkpoints of a training, from which it continues to the same weights."""

import os
from pathlib import Path

import lightning

from weebill.durable import sync


class Checkpoints(lightning.Callback):
    """Checkpoints to continue from, written atomically every `every` updates; only the last is kept."""

    def __init__(self, work: Path, every: int):
        self._folder, self._every = work / "checkpoints", every

    def last(self) -> Path | None:
        """Return the newest complete checkpoint; the stem of its name is the number of its updates."""
        return max(self._folder.glob("[0-9]*.ckpt"), key=lambda path: int(path.stem), default=None)

    def on_train_batch_end(self, trainer, task, outputs, batch, batch_idx) -> None:
        if trainer.global_step % self._every == 0:
            self.save(trainer)

    def save(self, trainer) -> None:
        """Write a checkpoint and remove the older ones."""
        before = self.last()
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{trainer.global_step}.ckpt"
        partial = path.with_suffix(f".partial-{os.getpid()}")
        trainer.save_checkpoint(partial, weights_only=False)
        if trainer.is_global_zero:
            sync(partial)  # otherwise a power loss could leave only an empty checkpoint
            os.replace(partial, path)
            sync(self._folder)
            if before is not None and before != path:
                before.unlink(missing_ok=True)
