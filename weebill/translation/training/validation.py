"""Regular validation of a training, which keeps the best weights and ends the training."""

import copy
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import lightning
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.cuda import Event
from tqdm import tqdm

from weebill.bleu import bleu
from weebill.files import atomic_path
from weebill.kernels.graphs import unrecorded
from weebill.translation.search import greedy_translations
from weebill.translation.training.settings import TrainingConfig
from weebill.translation.training.task import TranslationTask, copies
from weebill_runtime.vocabulary import AnyVocabulary


class GreedyValidation(lightning.Callback):
    """Regular validation by BLEU of greedy translations; it keeps the best weights and ends the training.

    The last update is validated too.  A training shorter than one interval has no validation.  A training ends after
    all updates, or when its patience ends; patience begins after update `patient_from`: a later stage may still help.

    aside: True to translate and score in another thread, by a copy of the network, while the training goes on.  A
    score is then read at the next validation, where the training ends if its patience ended with that score.
    """

    def __init__(
        self,
        sources: list[str],
        references: list[str],
        vocabulary: AnyVocabulary,
        config: TrainingConfig,
        work: Path,
        patient_from: int = 0,
        *,
        aside: bool = False,
    ):
        self._sources, self._references, self._vocabulary = sources, references, vocabulary
        self._config, self._patient_from = config, patient_from
        self._metric = bleu(config.language)
        self._best_path = work / "best.safetensors"
        self._thread = _ValidationThread() if aside else None
        self._pending: tuple[int, Future[float]] | None = None  # update and score
        self.history: list[dict[str, float]] = []

    def on_train_start(self, trainer, task) -> None:
        """Stop a resumed run at once if it is already finished; Lightning's max_steps does not."""
        self._validate(trainer, task)

    def on_train_batch_end(self, trainer, task, outputs, batch, batch_idx) -> None:
        self._validate(trainer, task)

    def on_train_end(self, trainer, task) -> None:
        self._settle(trainer)
        self._end()

    def on_exception(self, trainer, task, exception) -> None:
        """Wait for a running search; the training ends by an error."""
        self._end()

    def _validate(self, trainer, task) -> None:
        """Validate if it is time to, and stop the training at its end."""
        update, due = trainer.global_step, self._due(trainer.global_step)
        # A checkpoint of this update must have the scores of all earlier ones.
        if due or update % self._config.checkpoint_every == 0:
            self._settle(trainer)
        ends = due and self._out_of_patience()
        if due and not ends and all(row["update"] != update for row in self.history):
            self._begin(trainer, task)
            if self._thread is None:
                self._settle(trainer)
                ends = self._out_of_patience()
        if ends or update >= self._config.updates:
            trainer.should_stop = True

    def _due(self, update: int) -> bool:
        """Return True if weights after this update are validated."""
        every = self._config.validate_every
        return (update > 0 and update % every == 0) or every < update == self._config.updates

    def _begin(self, trainer, task: TranslationTask) -> None:
        """Validate the present weights, or let the thread begin to."""
        update, score = trainer.global_step, Future()
        best = max((row["bleu"] for row in self.history), default=-1.0)
        if not trainer.is_global_zero:
            score.set_result(0.0)
        elif self._thread is None:
            with _evaluated(task) as network:
                score.set_result(self._scored(network, update, best))
        else:
            score = self._thread.submit(task, lambda network: self._scored(network, update, best))
        self._pending = update, score

    def _settle(self, trainer) -> None:
        """Wait for the last validation, and add its score to the history of each rank."""
        if self._pending is None:
            return
        (update, score), self._pending = self._pending, None
        found = trainer.strategy.broadcast(score.result(), src=0)
        self.history.append({"update": update, "bleu": found})
        for logger in trainer.loggers:
            logger.log_metrics({"validation_bleu": found}, step=update)

    def _scored(self, network: nn.Module, update: int, best: float) -> float:
        """Return the BLEU of a network, and keep its weights if it is better than the best one."""
        score = self._bleu(network, update)
        if score > best:
            with atomic_path(self._best_path) as partial:
                save_file(copies(network.state_dict(), "cpu"), partial)
        return score

    def _bleu(self, network: nn.Module, update: int) -> float:
        # The search sees that the network is in training, and frees its GPU memory.
        text = None if self.history else "validation"  # log cuts only once
        hypotheses = greedy_translations(network, self._vocabulary, self._sources, text)
        score = self._metric.corpus_score(hypotheses, [self._references]).score
        tqdm.write(f"update {update}: validation BLEU {score:.2f}")
        return score

    def _out_of_patience(self) -> bool:
        return 0 < self._config.patience <= self._in_vain()

    def _in_vain(self) -> int:
        """Count the validations since the best one and since patience began."""
        best = max(self.history, key=lambda row: row["bleu"], default={"update": 0})
        since = max(best["update"], self._patient_from)
        return sum(row["update"] > since for row in self.history)

    def _end(self) -> None:
        if self._thread is not None:
            self._thread.end()

    def best_state(self) -> dict[str, torch.Tensor] | None:
        """Return the weights of the best validation; None if there was no validation."""
        return load_file(self._best_path) if self.history else None

    def state_dict(self) -> dict:
        return {"history": self.history}

    def load_state_dict(self, state: dict) -> None:
        self.history = state["history"]


@contextmanager
def _evaluated(task: TranslationTask) -> Iterator[nn.Module]:
    """Give a task's network the weights to validate, and its own ones at the end."""
    network = task.network
    own = copies(network.state_dict())
    network.load_state_dict(task.evaluated())
    try:
        yield network
    finally:
        network.load_state_dict(own)


class _ValidationThread:
    """Thread that works with a copy of a network whose training goes on; a GPU has a stream of its own for it."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="validation")
        self._network: nn.Module | None = None

    def submit(self, task: TranslationTask, work: Callable[[nn.Module], float]) -> Future[float]:
        """Copy the weights to validate, and begin the work; the work before must have ended."""
        if self._network is None:
            self._network = copy.deepcopy(task.network)
        self._network.load_state_dict(task.evaluated())
        on_gpu = task.device.type == "cuda"
        copied = torch.cuda.current_stream(task.device).record_event() if on_gpu else None
        task.watched = True
        return self._thread.submit(self._run, task, work, copied)

    def _run(
        self, task: TranslationTask, work: Callable[[nn.Module], float], copied: Event | None
    ) -> float:
        try:
            with unrecorded(task.device):
                if copied is not None:
                    copied.wait()
                return work(self._network)
        finally:
            task.watched = False

    def end(self) -> None:
        """Wait for the thread, and free the copy."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._network = None
