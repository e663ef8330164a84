"""Progress and validation of a training, which Lightning calls after each update."""

import time
from pathlib import Path

import lightning
import torch
from safetensors.torch import load_file, save_file
from tqdm import tqdm

from weebill.bleu import bleu
from weebill.files import atomic_path
from weebill.translation.search import greedy_translations
from weebill.translation.training.settings import TrainingConfig
from weebill.translation.training.task import LOGGED
from weebill.workflow.progress import tell
from weebill_runtime.vocabulary import AnyVocabulary


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


class GreedyValidation(lightning.Callback):
    """Regular validation by BLEU of greedy translations; it keeps the best weights and ends the training.

    The last update is validated too.  A training shorter than one interval has no validation.  A training ends after
    all updates, or when its patience ends; patience begins after update `patient_from`: a later stage may still help.
    """

    def __init__(
        self,
        sources: list[str],
        references: list[str],
        vocabulary: AnyVocabulary,
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
        """Stop a resumed run at once if it is already finished; Lightning's max_steps does not."""
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
        # The search sees that the network is in training, and frees its GPU memory.
        text = None if self.history else "validation"  # log cuts only once
        hypotheses = greedy_translations(network, self._vocabulary, self._sources, text)
        network.load_state_dict(training_state)
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
