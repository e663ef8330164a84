"""Parts of a training that Lightning calls: updates with their batches, progress, validation, and checkpoints."""

import os
import time
from itertools import chain
from pathlib import Path

import lightning
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.utils.data import IterableDataset
from tqdm import tqdm

from weebill.bleu import bleu
from weebill.durable import sync
from weebill.files import atomic_path
from weebill.pruning.study import Companion
from weebill.translation.search import greedy_translations
from weebill.translation.training.batches import staged_batches
from weebill.translation.training.encoding import EncodedCorpus
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.settings import TrainingConfig
from weebill.workflow.progress import tell
from weebill_runtime.vocabulary import AnyVocabulary

LOGGED = 50  # updates from one log of loss and learning rate to the next: a log costs as much as a small layer


class UpdateStream(IterableDataset):
    """Stream of updates: the batches of this process's rank, and the number of target words of all ranks."""

    def __init__(self, corpus: EncodedCorpus, config: TrainingConfig, seed: int):
        self.corpus, self.config, self.seed = corpus, config, seed
        self.first_update = 0
        self.rank, self.ranks = 0, 1

    def __iter__(self):
        per_update = self.config.accumulate * self.ranks
        order = self.config.batch_tokens, self.seed, per_update, self.first_update
        stream = staged_batches(self.corpus, self.config.stages, *order)
        target = self.corpus.lengths("target")
        while True:
            rows = [next(stream) for _ in range(per_update)]
            words = int(sum(target[part].sum() for part in rows))
            yield [self.corpus.batch(part) for part in rows[self.rank :: self.ranks]], words


class TranslationTask(lightning.LightningModule):
    """Network in training; one Lightning step is one update over all its batches."""

    def __init__(
        self,
        network: nn.Module,
        config: TrainingConfig,
        seed: int,
        start_update: int = 0,
        companion: Companion | None = None,
    ):
        super().__init__()
        self.network, self.config, self.companion = network, config, companion
        self.seed, self.start_update = seed, start_update
        # Gradients are summed over batches, and divided by the number of all their words.
        self.automatic_optimization = False
        self.smoothed = [p.detach().clone() for p in network.parameters() if config.smoothing]

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Make Adam with the papers' β and ε; a companion's parameters are a group with its own rate."""
        groups = [{"params": list(self.network.parameters()), "rate": None}]
        if self.companion is not None and (own := list(self.companion.parameters())):
            groups.append({"params": own, "rate": self.companion.rate})
        rate = self.config.learning_rate
        return torch.optim.Adam(groups, lr=rate, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def rate(self, update: int) -> float:
        """Return the learning rate of an update, counted from 1: linear warm-up, then a fall of the chosen kind."""
        warmup, end = max(1, self.config.warmup), self.config.decay_until or self.config.updates
        if self.config.decay == "linear":
            fall = (end + 1 - update) / max(1, end + 1 - warmup)
        else:
            fall = (warmup / update) ** 0.5
        return self.config.learning_rate * min(update / warmup, fall)

    def training_step(self, update, _index: int) -> None:
        """Make one update: forward and backward pass of each batch, then one optimizer step."""
        batches, words = update
        config, optimizer = self.config, self.optimizers()
        number = self.start_update + self.global_step + 1
        _seed(hash((self.seed, number, self.global_rank)) % 2**63)
        # DDP averages gradients over ranks.  Because `words` counts all ranks, multiply by their number.
        ranks, extras = self.trainer.world_size, (config.label_smoothing, config.guided_alignment)
        moved = (batch.to(self.device) for batch in batches)
        losses = (batch_loss(self.network, batch, words, *extras) * ranks for batch in moved)
        if self.companion is not None:
            self.companion.before_update(self.global_step + 1)
            penalty = self.companion.penalty()
            losses = losses if penalty is None else chain(losses, [penalty])
        if ranks > 1:
            losses = [sum(losses)]  # DDP exchanges gradients in the first backward pass only
        total = 0.0
        for loss in losses:
            self.manual_backward(loss)
            total += loss.detach()
        if config.clip_norm:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.clip_norm)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] or self.rate(number)
        optimizer.step()
        optimizer.zero_grad()
        self.smooth(number)
        if self.global_step % LOGGED == 0:
            # A tensor on the device, because the host would wait for the device with a plain number.
            rate = torch.full((), self.rate(number), device=self.device)
            self.log_dict({"loss": total, "learning_rate": rate})
        self.words = words

    def smooth(self, number: int) -> None:
        """Move the smoothed weights towards those after update `number`."""
        # Marian's schedule: early averages follow the weights faster.
        rate = max(self.config.smoothing, 1 - (number + 1) / (number + 10))
        if self.smoothed:
            with torch.no_grad():
                torch._foreach_lerp_(self.smoothed, list(self.network.parameters()), rate)

    def on_train_start(self) -> None:
        """Move the smoothed weights to the device to which the trainer has just moved the network."""
        self.smoothed = [value.to(self.device) for value in self.smoothed]

    def on_save_checkpoint(self, checkpoint: dict) -> None:
        checkpoint["smoothed"] = self.smoothed

    def on_load_checkpoint(self, checkpoint: dict) -> None:
        self.smoothed = checkpoint["smoothed"]

    def evaluated_state(self) -> dict[str, torch.Tensor]:
        """Return the weights to validate and keep: the smoothed ones if smoothing is on."""
        smoothed = dict(
            zip(self.network.parameters(), self.smoothed, strict=False)
        )  # none if it is off
        # A tied parameter has several names; whoever loads the state takes the value of the last one.
        every = self.network.named_parameters(remove_duplicate=False)
        state = self.network.state_dict()
        state |= {name: smoothed.get(parameter, parameter) for name, parameter in every}
        return {name: value.detach().cpu().clone() for name, value in state.items()}


def _seed(number: int) -> None:
    """Seed this process's random numbers, of the CPU and of GPUs in use.

    `torch.manual_seed` also notes the stack of calls for each kind of absent device, which takes a millisecond.
    """
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)


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
        """End the bar in the log; else it would be drawn once more on the terminal."""
        self._bar.close()


class GreedyValidation(lightning.Callback):
    """Regular validation by BLEU of greedy translations; it keeps the best weights and ends the training.

    The last update is validated too.  A training shorter than one interval has no validation.  It ends after all
    updates, or when patience ends, which begins after update `patient_from`, because a later stage may still help.
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
