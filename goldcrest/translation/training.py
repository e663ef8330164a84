"""Training of teachers and students on PyTorch Lightning; killed at any moment, it goes on to the same weights.

Everything random is a function of the seed and the number of the update: the batches (`batches`), and the
dropout masks, whose generator is seeded anew at each update.  A checkpoint therefore holds parameters, optimizer,
smoothed parameters and the validation history, and nothing else is needed to continue.
"""

import hashlib
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import lightning
import torch
from lightning.pytorch.loggers import TensorBoardLogger
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from goldcrest.corpus.table import read_columns
from goldcrest.errors import InputError
from goldcrest.files import LOCK, content_hash, exclusive_folder, read_json, write_json
from goldcrest.translation.batches import EncodedCorpus, batch_stream, encode_corpus
from goldcrest.translation.callbacks import Checkpoints, GreedyValidation, ProgressBar, StopAt
from goldcrest.translation.loss import output_cross_entropy
from goldcrest.translation.network import Translator
from goldcrest.translation.vocabulary import Vocabulary

PRECISIONS = {"float32": "32-true", "bfloat16": "bf16-mixed"}


@dataclass(frozen=True)
class TrainingConfig:
    """How to train; defaults are the students' of WNGT20 §3 (Marian's transformer-base task)."""

    batch_tokens: int = (
        8192  # positions of source plus target, padding counted, in one batch of one device
    )
    accumulate: int = 1  # batches per update and device
    updates: int = 500_000  # at most
    learning_rate: float = 3e-4
    warmup: int = 16_000  # updates; linear up to here, inverse square root from here
    validate_every: int = 5_000
    patience: int = 20  # validations without improvement; 0: train all the updates
    checkpoint_every: int = 1_000
    smoothing: float = 1e-4  # exponential smoothing of the weights; 0: off
    dropout: float = 0.0
    label_smoothing: float = 0.0
    clip_norm: float = 0.0  # 0: off
    max_pieces: int = 200  # longer pairs are left out of training
    precision: str = "float32"


@dataclass(frozen=True)
class Hardware:
    """Where to train: accelerator `cpu` or `gpu`, devices (DDP where more than one), CPU threads."""

    accelerator: str = "cpu"
    devices: int = 1
    threads: int = 1
    nodes: int = 1


@dataclass
class Training:
    """What training found: updates made, and per validation {update, bleu}; the best one's weights were kept."""

    updates: int
    history: list[dict[str, float]] = field(default_factory=list)

    @property
    def best(self) -> dict[str, float] | None:
        """The first validation with the highest BLEU."""
        return max(self.history, key=lambda row: row["bleu"], default=None)

    def to_dict(self) -> dict[str, Any]:
        """For the model folder's lineage."""
        return {**asdict(self), "best": self.best}


class UpdateStream(IterableDataset):
    """Per item the batches of one update, of this process's rank, and the target words of all ranks together."""

    def __init__(self, corpus: EncodedCorpus, config: TrainingConfig, seed: int):
        self.corpus, self.config, self.seed = corpus, config, seed
        self.first_update = 0
        self.rank, self.ranks = 0, 1

    def __iter__(self):
        per_update = self.config.accumulate * self.ranks
        stream = batch_stream(
            self.corpus, self.config.batch_tokens, self.seed, self.first_update * per_update
        )
        target = self.corpus.lengths("target")
        while True:
            rows = [next(stream) for _ in range(per_update)]
            words = int(sum(target[part].sum() for part in rows))
            yield [self.corpus.batch(part) for part in rows[self.rank :: self.ranks]], words


class TranslationTask(lightning.LightningModule):
    """One network in training; one Lightning step is one update over all its batches."""

    def __init__(
        self, network: nn.Module, config: TrainingConfig, seed: int, start_update: int = 0
    ):
        super().__init__()
        self.network, self.config = network, config
        self.seed, self.start_update = seed, start_update
        self.automatic_optimization = (
            False  # gradients are summed over batches, and divided by all their words
        )
        self.smoothed = (
            [p.detach().clone() for p in network.parameters()] if config.smoothing else None
        )

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam with the papers' β and ε."""
        return torch.optim.Adam(
            self.network.parameters(),
            lr=self.config.learning_rate,
            betas=(0.9, 0.98),
            eps=1e-9,
            fused=True,
        )

    def rate(self, update: int) -> float:
        """The learning rate of an update, counted from 1: linear warm-up, then inverse square root."""
        warmup = max(1, self.config.warmup)
        return self.config.learning_rate * min(update / warmup, (warmup / update) ** 0.5)

    def loss(self, batch, words: int) -> torch.Tensor:
        """Weighted cross-entropy summed over the batch's target words, divided by `words`."""
        network = self.network
        memory = network.encode(batch.source, batch.source_mask)
        hidden = network.decode(batch.decoder_input, memory, batch.source_mask)
        mask = batch.target_mask
        factor = batch.weight[:, None].expand(mask.shape)[mask] / words
        operands = network.output_operands(hidden[mask])
        return output_cross_entropy(
            *operands, batch.target[mask], factor, self.config.label_smoothing
        )

    def training_step(self, update, _index: int) -> None:
        """One update: forward and backward of each batch, then one optimizer step."""
        batches, words = update
        optimizer = self.optimizers()
        number = self.start_update + self.global_step + 1
        torch.manual_seed(hash((self.seed, number, self.global_rank)) % 2**63)
        # DDP averages gradients over ranks; the words are those of all ranks, so undo the mean.
        losses = (
            self.loss(batch.to(self.device), words) * self.trainer.world_size for batch in batches
        )
        if self.trainer.world_size > 1:
            losses = [sum(losses)]  # DDP exchanges gradients in the first backward pass only
        total = 0.0
        for loss in losses:
            self.manual_backward(loss)
            total += loss.detach()
        if self.config.clip_norm:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip_norm)
        for group in optimizer.param_groups:
            group["lr"] = self.rate(number)
        optimizer.step()
        optimizer.zero_grad()
        self.smooth(number)
        self.log_dict({"loss": total, "learning_rate": self.rate(number)})
        self.words = words

    def smooth(self, number: int) -> None:
        """Move the smoothed weights towards those after update `number`."""
        if self.smoothed is None:
            return
        # Marian's schedule: young averages follow the weights faster.
        rate = max(self.config.smoothing, 1 - (number + 1) / (number + 10))
        with torch.no_grad():
            torch._foreach_lerp_(self.smoothed, list(self.network.parameters()), rate)

    def setup(self, stage: str) -> None:
        """Smoothed weights live on the device of the network."""
        if self.smoothed is not None:
            self.smoothed = [value.to(self.device) for value in self.smoothed]

    def on_save_checkpoint(self, checkpoint: dict) -> None:
        """The smoothed weights belong to the state of training."""
        checkpoint["smoothed"] = self.smoothed

    def on_load_checkpoint(self, checkpoint: dict) -> None:
        """The inverse of `on_save_checkpoint`."""
        self.smoothed = checkpoint["smoothed"]

    def evaluated_state(self) -> dict[str, torch.Tensor]:
        """The weights that are validated and kept: the smoothed ones where smoothing is on."""
        state = {name: value.detach().cpu() for name, value in self.network.state_dict().items()}
        if self.smoothed is not None:
            names = [name for name, _ in self.network.named_parameters()]
            state.update(zip(names, (value.detach().cpu() for value in self.smoothed), strict=True))
        return {name: value.clone() for name, value in state.items()}


def train(
    network: Translator,
    corpora: Sequence[Path],
    validation: Path,
    vocabulary: Vocabulary,
    config: TrainingConfig,
    *,
    seed: int,
    work: Path,
    hardware: Hardware = Hardware(),
    start_update: int = 0,
    transform: Callable[[nn.Module], None] | None = None,
    keep: Literal["best", "last"] = "best",
    tensorboard: Path | None = None,
) -> Training:
    """Train `network` in place.

    corpora, validation: tables; kept pairs are used.  work: a folder for checkpoints and logs, never shared by
    two processes; an unfinished training of the same network, data and settings found there is continued, any
    other is thrown away.  start_update: where the learning-rate schedule and the batches begin (late resetting).
    transform: changes the network first, e.g. to fake quantization.
    keep: the weights the network ends with, those of the best validation (smoothed where smoothing is on; the
    last where none was made), or the plain weights of the last update.
    tensorboard: where to log loss, rate, speed and BLEU; nowhere by default.
    Under DDP only the first rank returns; the others end here.
    Raises InputError for an empty corpus or validation set, or a vocabulary of another size than the network's.
    """
    if len(vocabulary) != network.architecture.vocabulary:
        raise InputError(
            f"{vocabulary.path}: {len(vocabulary):,} pieces, but the network has "
            f"{network.architecture.vocabulary:,}; use the vocabulary it was made for"
        )
    pairs = read_columns(validation, ["source", "target"]).to_pydict()
    if not pairs["source"]:
        raise InputError(f"{validation}: the validation set is empty; look at the cleaning report")
    torch.set_num_threads(hardware.threads)
    settings = {"config": asdict(config), "seed": seed, "start_update": start_update, "keep": keep}
    if transform is not None:
        transform(network)
    with exclusive_folder(work) if _first_rank() else nullcontext():
        if _first_rank():
            claim_work(work, settings, network, [*corpora, validation, vocabulary.path])
        data = encode_corpus(corpora, vocabulary, work / "encoded", config.max_pieces)
        task = TranslationTask(network, config, seed, start_update)
        validations = GreedyValidation(
            pairs["source"],
            pairs["target"],
            vocabulary,
            config.validate_every,
            config.patience,
            work,
        )
        trainer = _fit(
            task, UpdateStream(data, config, seed), validations, work, hardware, tensorboard
        )
        if not trainer.is_global_zero:
            sys.exit(0)
        if keep == "best":
            network.load_state_dict(validations.best_state() or task.evaluated_state())
        network.cpu().eval()
        return Training(trainer.global_step, validations.history)


def _fit(
    task: TranslationTask,
    stream: UpdateStream,
    validations: GreedyValidation,
    work: Path,
    hardware: Hardware,
    tensorboard: Path | None,
) -> lightning.Trainer:
    """Run or continue the training whose checkpoints are in `work`."""
    config = task.config
    checkpoints = Checkpoints(work, config.checkpoint_every)
    trainer = lightning.Trainer(
        accelerator=hardware.accelerator,
        devices=hardware.devices,
        num_nodes=hardware.nodes,
        strategy="ddp" if hardware.devices * hardware.nodes > 1 else "auto",
        precision=PRECISIONS[config.precision],
        max_epochs=1,  # the stream is endless, callbacks end it
        logger=TensorBoardLogger(tensorboard, name="", version="") if tensorboard else False,
        log_every_n_steps=50,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
        callbacks=[ProgressBar(config.updates), validations, checkpoints, StopAt(config.updates)],
    )
    stream.rank, stream.ranks = trainer.global_rank, trainer.world_size
    stream.first_update = task.start_update
    last = checkpoints.last()
    if last is not None:
        logging.info("continuing at update %d from %s", last.update, last.path)
        stream.first_update += last.update
    task.train()  # a network read from its folder is in evaluation mode
    trainer.fit(
        task, DataLoader(stream, batch_size=None), ckpt_path=last and last.path, weights_only=True
    )
    return trainer


def claim_work(
    work: Path, settings: Mapping[str, Any], network: nn.Module, inputs: Sequence[Path]
) -> None:
    """Make `work` belong to one training: what another network, data or settings left there is removed."""
    identity = {
        "settings": dict(settings),
        "network": tensors_hash(network.state_dict()),
        "inputs": [content_hash(path) for path in inputs],
    }
    path = work / "identity.json"
    if path.is_file() and read_json(path) == json.loads(json.dumps(identity)):
        return
    for stale in [entry for entry in work.iterdir() if entry.name != LOCK]:
        shutil.rmtree(stale) if stale.is_dir() else stale.unlink()
    write_json(path, identity)


def tensors_hash(tensors: Mapping[str, torch.Tensor]) -> str:
    """SHA-256 over names, types and values."""
    digest = hashlib.sha256()
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def _first_rank() -> bool:
    """Whether this process is the first of its training; Lightning starts the others by itself."""
    return int(os.environ.get("LOCAL_RANK", os.environ.get("SLURM_PROCID", "0"))) == 0
