"""Checkpoints of a training, from which it continues to the same weights."""

import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.plugins.io import TorchCheckpointIO
from lightning_utilities.core.apply_func import apply_to_collection
from torch import Tensor

from weebill.durable import sync


class CheckpointFiles(TorchCheckpointIO):
    """Files of checkpoints: each is written as a whole and safe on the disk before the older ones are removed.

    aside: True to let another thread write, as for trainings on a GPU; the training then waits only for a copy in the
    host's memory, and for the previous file.
    """

    def __init__(self, aside: bool = False):
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="checkpoint") if aside else None
        self._writing: Future[None] | None = None

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: None = None
    ) -> None:
        """Write a checkpoint to `path`.  Raises the error of the previous one if a thread failed to write it."""
        self.wait()
        if self._thread is None:
            self._write(checkpoint, Path(path))
        else:
            self._writing = self._thread.submit(self._write, copied(checkpoint), Path(path))

    def _write(self, checkpoint: dict[str, Any], path: Path) -> None:
        before = checkpoint_files(path.parent)
        partial = path.with_suffix(f".partial-{os.getpid()}")
        super().save_checkpoint(checkpoint, partial)
        sync(partial)  # otherwise a power loss could leave only an empty checkpoint
        os.replace(partial, path)
        sync(path.parent)
        for other in before:
            if other != path:
                other.unlink(missing_ok=True)

    def wait(self) -> None:
        """Wait until every checkpoint is on the disk.  Raises the error of one that could not be written."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()

    def teardown(self) -> None:
        """End the thread; Lightning calls this at the end of a training, also of one that failed."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        self.wait()


def copied(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """Return a checkpoint with copies of its tensors in the host's memory; shared memory stays shared."""
    copies: dict[tuple, Tensor] = {}

    def copy(value: Tensor) -> Tensor:
        place = value.data_ptr(), value.dtype, value.shape, value.stride()
        if not value.numel() or place not in copies:
            there = torch.empty_like(value, device="cpu", pin_memory=value.is_cuda)
            copies[place] = there.copy_(value.detach(), non_blocking=True)
        return copies[place]

    found = apply_to_collection(checkpoint, Tensor, copy)
    if torch.cuda.is_initialized():
        torch.cuda.current_stream().synchronize()
    return found


def checkpoint_files(folder: Path) -> list[Path]:
    """List the complete checkpoints of a folder; the stem of a name is the number of updates."""
    return sorted(folder.glob("[0-9]*.ckpt"), key=lambda path: int(path.stem))


class Checkpoints(lightning.Callback):
    """Checkpoints after every `every` updates, to continue from; `CheckpointFiles` keeps the last one."""

    def __init__(self, work: Path, every: int):
        self._folder, self._every = work / "checkpoints", every

    def last(self) -> Path | None:
        """Return the newest complete checkpoint."""
        return next(reversed(checkpoint_files(self._folder)), None)

    def on_train_batch_end(self, trainer, task, outputs, batch, batch_idx) -> None:
        if trainer.global_step % self._every == 0:
            self.save(trainer)

    def save(self, trainer) -> None:
        """Write a checkpoint."""
        self._folder.mkdir(parents=True, exist_ok=True)
        trainer.save_checkpoint(self._folder / f"{trainer.global_step}.ckpt", weights_only=False)
