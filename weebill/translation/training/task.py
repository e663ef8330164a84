"""Update of a training: its batches, its loss, its optimizer step and its smoothed weights."""

from itertools import chain

import lightning
import torch
from torch import nn
from torch.utils.data import IterableDataset

from weebill.pruning.study import Companion
from weebill.translation.training.batches import staged_batches
from weebill.translation.training.encoding import EncodedCorpus
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.settings import TrainingConfig


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
        self.smoothed = (
            [p.detach().clone() for p in network.parameters()] if config.smoothing else None
        )

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Make Adam with the papers' β and ε; a companion's parameters are a group with its own rate."""
        groups = [{"params": list(self.network.parameters()), "rate": None}]
        if self.companion is not None and (own := list(self.companion.parameters())):
            groups.append({"params": own, "rate": self.companion.rate})
        rate = self.config.learning_rate
        return torch.optim.Adam(groups, lr=rate, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def rate(self, update: int) -> float:
        """Return the learning rate of an update, counted from 1: linear warm-up, then inverse square root."""
        warmup = max(1, self.config.warmup)
        return self.config.learning_rate * min(update / warmup, (warmup / update) ** 0.5)

    def training_step(self, update, _index: int) -> None:
        """Make one update: forward and backward pass of each batch, then one optimizer step."""
        batches, words = update
        config, optimizer = self.config, self.optimizers()
        number = self.start_update + self.global_step + 1
        torch.manual_seed(hash((self.seed, number, self.global_rank)) % 2**63)
        # DDP averages gradients over ranks.  Because `words` counts all ranks, multiply by their number.
        ranks, extras = self.trainer.world_size, (config.label_smoothing, config.guided_alignment)
        losses = (
            batch_loss(self.network, batch.to(self.device), words, *extras) * ranks
            for batch in batches
        )
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
        # A tensor on the device, because the host would wait for the device with a plain number.
        rate = torch.full((), self.rate(number), device=self.device)
        self.log_dict({"loss": total, "learning_rate": rate})
        self.words = words

    def smooth(self, number: int) -> None:
        """Move the smoothed weights towards those after update `number`."""
        if self.smoothed is None:
            return
        # Marian's schedule: early averages follow the weights faster.
        rate = max(self.config.smoothing, 1 - (number + 1) / (number + 10))
        with torch.no_grad():
            torch._foreach_lerp_(self.smoothed, list(self.network.parameters()), rate)

    def on_train_start(self) -> None:
        """Move the smoothed weights to the device to which the trainer has just moved the network."""
        if self.smoothed is not None:
            self.smoothed = [value.to(self.device) for value in self.smoothed]

    def on_save_checkpoint(self, checkpoint: dict) -> None:
        """Add the smoothed weights to the checkpoint."""
        checkpoint["smoothed"] = self.smoothed

    def on_load_checkpoint(self, checkpoint: dict) -> None:
        """Read the smoothed weights from the checkpoint."""
        self.smoothed = checkpoint["smoothed"]

    def evaluated_state(self) -> dict[str, torch.Tensor]:
        """Return the weights to validate and keep: the smoothed ones if smoothing is on."""
        state = self.network.state_dict()
        if self.smoothed is not None:
            names = [name for name, _ in self.network.named_parameters()]
            state.update(zip(names, self.smoothed, strict=True))
        return {name: value.detach().cpu().clone() for name, value in state.items()}
