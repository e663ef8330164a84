"""Callbacks of a training: progress, greedy validation, checkpoints, and the end."""

import os
import time
from pathlib import Path

import lightning
import torch
from safetensors.torch import load_file, save_file
from tqdm import tqdm

from weebill.bleu import bleu
from weebill.durable import sync
from weebill.files import atomic_path
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.search import greedy_translations
from weebill.translation.training.settings import TrainingConfig


class ProgressBar(lightning.Callback):
    """Progress bar with finished updates, target tokens per second and the remaining time."""

    def __init__(self, updates: int):
        self._updates, self._words, self._since = updates, 0, time.monotonic()

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
        if trainer.global_step % 50 == 0 and elapsed > 0:
            speed, loss = self._words / elapsed, float(trainer.callback_metrics["loss"])
            task.log("tokens_per_second", speed)
            self._bar.set_postfix({"tokens/s": f"{speed:,.0f}", "loss": f"{loss:.3f}"})
            self._words, self._since = 0, time.monotonic()
        self._bar.update()

    def on_train_end(self, trainer, task) -> None:
        self._bar.close()


class GreedyValidation(lightning.Callback):
    """Regular validation by BLEU of greedy translations; it keeps the best weights and ends the training.

    The last update is validated too, because the best weights may be among the last ones.  A training shorter than
    one interval has no validation.  The training ends after all updates, or when patience ends.  Patience begins
    after update `patient_from`: a later stage may still improve a model that no longer improves in the present one.
    """

    def __init__(
        self,
        sources: list[str],
        references: list[str],
        vocabulary: Vocabulary,
        config: TrainingConfig,
        work: Path,
        patient_from: int = 0,
    ):
        self._sources, self._references, self._vocabulary = sources, references, vocabulary
        self._config, self._patient_from = config, patient_from
        self._metric = bleu(config.language)
        self._best_path = work / "best.safetensors"
        self.history: list[dict[str, float]] = []

    def on_train_start(self, trainer, task) -> None:
        """Stop a resumed run at once if it has ended; Lightning's own max_steps does not."""
        self._stop_at_end(trainer)

    def on_train_batch_end(self, trainer, task, outputs, batch, batch_idx) -> None:
        update, every = trainer.global_step, self._config.validate_every
        if update % every == 0 or every < update == self._config.updates:
            state = task.evaluated_state()
            score = self._bleu(task, state) if trainer.is_global_zero else 0.0
            score = trainer.strategy.broadcast(score, src=0)
            best = max((row["bleu"] for row in self.history), default=-1.0)
            self.history.append({"update": update, "bleu": score})
            task.log("validation_bleu", score)
            if score > best and trainer.is_global_zero:
                with atomic_path(self._best_path) as partial:
                    save_file(state, partial)
        self._stop_at_end(trainer)

    def _stop_at_end(self, trainer) -> None:
        out_of_patience = 0 < self._config.patience <= self._in_vain()
        if trainer.global_step >= self._config.updates or out_of_patience:
            trainer.should_stop = True

    def _bleu(self, task, state: dict[str, torch.Tensor]) -> float:
        network = task.network
        training_state = {name: value.clone() for name, value in network.state_dict().items()}
        network.load_state_dict(state)
        network.eval()
        text = None if self.history else "validation"  # log cuts only once
        hypotheses = greedy_translations(network, self._vocabulary, self._sources, text)
        network.load_state_dict(training_state)
        network.train()
        score = self._metric.corpus_score(hypotheses, [self._references]).score
        tqdm.write(f"update {task.global_step}: validation BLEU {score:.2f}")
        return score

    def _in_vain(self) -> int:
        """Count the validations since the best one and since patience began."""
        best = max(self.history, key=lambda row: row["bleu"], default={"update": 0})
        since = max(best["update"], self._patient_from)
        return sum(row["update"] > since for row in self.history)

    def best_state(self) -> dict[str, torch.Tensor] | None:
        """Return the weights of the best validation; None if there was no validation."""
        return load_file(self._best_path) if self.history else None

    def state_dict(self) -> dict:
        return {"history": self.history}

    def load_state_dict(self, state: dict) -> None:
        self.history = state["history"]


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
