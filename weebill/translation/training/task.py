"""Updates of a training: their batches, their losses and gradients, and the step of the optimizer."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import lightning
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import IterableDataset

from weebill.ahead import ahead
from weebill.kernels.graphs import Recorder
from weebill.kernels.loss_faults import check_loss
from weebill.pruning.study import Companion
from weebill.translation.model.batch import Batch
from weebill.translation.training.batches import staged_batches
from weebill.translation.training.encoding import EncodedCorpus
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.recorded import RecordedPasses, padded
from weebill.translation.training.settings import TrainingConfig

AHEAD = 4  # updates whose batches another thread prepares for a GPU
LOGGED = 50  # updates between logs of loss and rate; a log costs as much as a small layer


class UpdateStream(IterableDataset):
    """Stream of updates: the batches of this process's rank, and the number of target words of all ranks.

    pinned: True to prepare batches for a GPU, in another thread.  repeating: True to pad them for `RecordedPasses`.
    """

    def __init__(self, corpus: EncodedCorpus, config: TrainingConfig, seed: int):
        self.corpus, self.config, self.seed = corpus, config, seed
        self.first_update = 0
        self.rank, self.ranks = 0, 1
        self.pinned = self.repeating = False

    def __iter__(self):
        return ahead(self._updates(), AHEAD) if self.pinned else self._updates()

    def _updates(self):
        per_update = self.config.accumulate * self.ranks
        order = self.config.batch_tokens, self.seed, per_update, self.first_update
        stream = staged_batches(self.corpus, self.config.stages, *order)
        target = self.corpus.lengths("target")
        while True:
            rows = [next(stream) for _ in range(per_update)]
            words = int(sum(target[part].sum() for part in rows))
            yield [self._batch(part, words) for part in rows[self.rank :: self.ranks]], words

    def _batch(self, rows: np.ndarray, words: int) -> Batch:
        batch = self.corpus.batch(rows)
        if self.repeating:
            batch = padded(batch, words)
        return batch.pin_memory() if self.pinned else batch


class TranslationTask(lightning.LightningModule):
    """Network in training; one Lightning step is one update over all its batches.

    recorder: makes the recorder of passes, if their shapes repeat; there must then be one rank, no companion and no
    guided alignment.  watched: True while another thread validates on the same device.
    """

    def __init__(
        self,
        network: nn.Module,
        config: TrainingConfig,
        seed: int,
        start_update: int = 0,
        companion: Companion | None = None,
        recorder: Callable[[], Recorder] | None = None,
    ):
        super().__init__()
        self.network, self.config, self.companion = network, config, companion
        self.recorder = recorder
        self.seed, self.start_update = seed, start_update
        # Gradients are summed over batches, and divided by the number of all their words.
        self.automatic_optimization = False
        self.weights = list(network.parameters())
        self.smoothed = [p.detach().clone() for p in self.weights if config.smoothing]
        self.recorded: RecordedPasses | None = None
        self.watched = False

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
            fall = max(0, end + 1 - update) / max(1, end + 1 - warmup)
        else:
            fall = (warmup / update) ** 0.5
        return self.config.learning_rate * min(update / warmup, fall)

    def training_step(self, update, _index: int) -> None:
        """Make one update: forward and backward pass of each batch, then one optimizer step.

        Raises InputError if the loss is not finite; a GPU's loss is checked only when it is logged.
        """
        batches, words = update
        config, optimizer = self.config, self.optimizers()
        number = self.start_update + self.global_step + 1
        _seed(hash((self.seed, number, self.global_rank)) % 2**63)
        if self.recorded is None:
            total = self._backward(batches, words)
        else:
            total = sum(self.recorded(batch, not self.watched).clone() for batch in batches)
        if config.clip_norm:
            torch.nn.utils.clip_grad_norm_(self.weights, config.clip_norm)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] or self.rate(number)
        optimizer.step()
        optimizer.zero_grad(set_to_none=self.recorded is None)
        self.smooth(number)
        if self.global_step % LOGGED == 0:
            # A tensor on the device: with a plain number, the host would wait for the device.
            rate = torch.full((), self.rate(number), device=self.device)
            self.log_dict({"loss": total, "learning_rate": rate})
        logged = self.global_step % LOGGED == 0 or self.global_step >= config.updates
        if logged or self.device.type == "cpu":  # to read a GPU's loss, the host must wait
            check_loss(total, number)
        self.words = words

    def _backward(self, batches: Sequence[Batch], words: int) -> Tensor:
        """Add the gradients of an update's loss, batch by batch, and return the loss."""
        # DDP averages gradients over ranks.  Because `words` counts all ranks, multiply by their number.
        ranks = self.trainer.world_size
        extras = self.config.label_smoothing, self.config.guided_alignment
        penalty = None
        if self.companion is not None:
            self.companion.before_update(self.global_step + 1)
            penalty = self.companion.penalty()
        total = 0.0
        for place, batch in enumerate(batches, start=1):
            loss = batch_loss(self.network, batch.to(self.device), words, *extras) * ranks
            last = place == len(batches)
            if last and ranks > 1 and penalty is not None:
                loss, penalty = loss + penalty, None  # DDP exchanges gradients in one backward pass
            with nullcontext() if last else self._without_exchange():
                self.manual_backward(loss)
            total += loss.detach()
        if penalty is not None:
            self.manual_backward(penalty)
            total += penalty.detach()
        return total

    def _without_exchange(self) -> AbstractContextManager[None]:
        """Let ranks keep the gradients of a backward pass; a later pass adds them and exchanges the sums."""
        strategy = self.trainer.strategy
        return strategy.block_backward_sync() if self.trainer.world_size > 1 else nullcontext()

    def _record(self, batch: Batch) -> Tensor:
        """Compute the loss of a batch whose weights are divided by the words, and add its gradients."""
        loss = batch_loss(self.network, batch, 1, self.config.label_smoothing)
        loss.backward()
        return loss.detach()

    def smooth(self, number: int) -> None:
        """Move the smoothed weights towards those after update `number`."""
        # Marian's schedule: early averages follow the weights faster.
        rate = max(self.config.smoothing, 1 - (number + 1) / (number + 10))
        if self.smoothed:
            with torch.no_grad():
                torch._foreach_lerp_(self.smoothed, self.weights, rate)

    def on_train_start(self) -> None:
        """Move the smoothed weights to the device to which the trainer has just moved the network."""
        self.smoothed = [value.to(self.device) for value in self.smoothed]
        self.weights = list(self.network.parameters())
        if self.recorder is not None:
            self.recorded = RecordedPasses(self.network, self._record, self.recorder())

    def on_train_end(self) -> None:
        """Free the memory of graphs and gradients."""
        self.recorded = None
        self.network.zero_grad()

    def on_save_checkpoint(self, checkpoint: dict) -> None:
        checkpoint["smoothed"] = self.smoothed

    def on_load_checkpoint(self, checkpoint: dict) -> None:
        self.smoothed = checkpoint["smoothed"]

    def evaluated(self) -> dict[str, Tensor]:
        """Return the weights to validate and keep, until the next update; smoothed ones if smoothing is on."""
        # None if smoothing is off.
        smoothed = dict(zip(self.network.parameters(), self.smoothed, strict=False))
        # A tied parameter has several names; when the state is loaded, the value of the last one counts.
        every = self.network.named_parameters(remove_duplicate=False)
        state = self.network.state_dict()
        return state | {name: smoothed.get(parameter, parameter) for name, parameter in every}


def copies(state: Mapping[str, Tensor], device: str | None = None) -> dict[str, Tensor]:
    """Return copies of tensors, none of which share memory; on their own devices, or on another one."""
    return {name: value.detach().to(device, copy=True) for name, value in state.items()}


def _seed(number: int) -> None:
    """Seed this process's random numbers, of the CPU and of GPUs in use.

    `torch.manual_seed` also records the call stack for each kind of absent device, which takes a millisecond.
    """
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
