"""Progress of a training on the terminal, in its log and for the display of a run."""

import time

import lightning
from tqdm import tqdm

from weebill.translation.training.task import LOGGED
from weebill.workflow.progress import tell


class ProgressBar(lightning.Callback):
    """Progress bar with finished updates, target tokens per second and the remaining time, also for the display."""

    def __init__(self, updates: int):
        self._updates, self._words, self._since = updates, 0, time.monotonic()
        self._notes = ""
        self._bar = tqdm(disable=True)

    def on_train_start(self, trainer, task) -> None:
        self._bar = tqdm(
            total=self._updates,
            initial=trainer.global_step,
            unit="update",
            mininterval=5,
            dynamic_ncols=True,
            disable=not trainer.is_global_zero,
        )

    def on_train_batch_end(self, trainer, task, outputs, batch, batch_idx) -> None:
        self._words += task.words
        elapsed = time.monotonic() - self._since
        if trainer.global_step % LOGGED == 0 and elapsed > 0:
            speed, loss = self._words / elapsed, float(trainer.callback_metrics["loss"])
            task.log("tokens_per_second", speed)
            self._bar.set_postfix({"tokens/s": f"{speed:,.0f}", "loss": f"{loss:.3f}"})
            self._words, self._since = 0, time.monotonic()
            self._notes = f"{speed:,.0f} tokens/s, loss {loss:.2f}"
        self._bar.update()
        if trainer.is_global_zero:
            tell(trainer.global_step, self._updates, "updates", self._notes)

    def on_train_end(self, trainer, task) -> None:
        self._bar.close()

    def on_exception(self, trainer, task, exception) -> None:
        """End the bar in the log; otherwise it would be drawn once more on the terminal."""
        self._bar.close()
