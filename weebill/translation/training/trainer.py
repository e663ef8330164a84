"""Training of teachers and students on PyTorch Lightning; a killed training continues to the same weights.

All random choices, batches and dropout masks, are functions of the seed and the number of the update.  So a
checkpoint needs only parameters, optimizer, smoothed parameters and the validation history.
"""

import hashlib
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn
from torch.utils.data import DataLoader

from weebill.corpus.table import read_columns
from weebill.errors import InputError
from weebill.files import claim_folder, content_hash, exclusive_folder, remove_folder
from weebill.kernels.accelerator import check_accelerator
from weebill.kernels.cpu_matmul import training_precision
from weebill.kernels.cuda import set_gpu_defaults
from weebill.model_lineage import lineage
from weebill.pruning.methods import companion_to_dict
from weebill.pruning.study import CompanionSettings
from weebill.replaceable import check_replaceable
from weebill.translation.model.folder import KIND, save_model
from weebill.translation.model.network import Translator
from weebill.translation.training.batches import last_begins
from weebill.translation.training.checkpoints import Checkpoints
from weebill.translation.training.encoding import shared_corpus
from weebill.translation.training.parts import lightning_trainer, task_and_stream
from weebill.translation.training.progress_bar import ProgressBar
from weebill.translation.training.settings import Hardware, TrainingConfig
from weebill.translation.training.validation import GreedyValidation
from weebill.workflow.code_version import code_of_module
from weebill.workflow.parent_watch import end_with_parent
from weebill_runtime.architecture import Architecture
from weebill_runtime.vocabulary import AnyVocabulary, read_vocabulary

ENCODED = "encoded"


@dataclass
class Training:
    """Course of a training: its number of updates, and {update, bleu} for each validation."""

    updates: int
    history: list[dict[str, float]] = field(default_factory=list)

    @property
    def best(self) -> dict[str, float] | None:
        """First validation with the highest BLEU; None if there was none."""
        return max(self.history, key=lambda row: row["bleu"], default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the model folder's lineage."""
        return {**asdict(self), "best": self.best}


def unwatched(config: TrainingConfig, updates: int) -> TrainingConfig:
    """Return the settings for a fixed number of updates, without validation."""
    return replace(config.part(updates), validate_every=updates + 1, patience=0)


def new_network(architecture: Architecture, seed: int, dropout: float = 0.0) -> Translator:
    """Make a network whose initial weights depend only on the architecture and the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Translator(architecture, dropout)


def make_model(
    output: Path,
    kind: str,
    entry: Mapping[str, Any],
    vocabulary: Sequence[str | Path],
    corpora: Sequence[str | Path],
    validation: str | Path,
    config: TrainingConfig,
    *,
    seed: int,
    **options: Any,
) -> None:
    """Train a model of a zoo entry from seeded weights and write its folder; options: further ones of `train`.

    vocabulary: the file of both languages, or those of target and source.
    Unfinished training in `OUTPUT.work` is continued by the next call.  Raises InputError as `train` does.
    """
    check_replaceable(output, KIND)
    pieces = read_vocabulary(*vocabulary)
    network = new_network(Architecture.from_zoo(entry, *pieces.sizes), seed, config.dropout)
    work = output.with_name(f"{output.name}.work")
    training = train(network, corpora, validation, pieces, config, seed=seed, work=work, **options)
    save_model(output, network, pieces, lineage(kind, config, seed, training))
    remove_folder(work)


def train(
    network: Translator,
    corpora: Sequence[str | Path],
    validation: str | Path,
    vocabulary: AnyVocabulary,
    config: TrainingConfig,
    *,
    seed: int,
    work: Path,
    hardware: Hardware = Hardware(),
    start_update: int = 0,
    transform: Callable[[nn.Module], None] | None = None,
    companion: CompanionSettings | None = None,
    keep: Literal["best", "last"] = "best",
    tensorboard: Path | None = None,
    encoded: str | Path | None = None,
) -> Training:
    """Train `network` in place.

    corpora, validation: tables, whose kept pairs are used.  work: folder for checkpoints.  An unfinished training
    there continues if network, data, settings, code and hardware are the same; otherwise it is deleted.
    start_update: update at which the learning-rate schedule and the batches begin (late resetting).
    transform: changes the network first, e.g. to fake quantization.
    companion: addition of a pruning method to the training.
    keep: final weights of the network.  "best": the weights of the best validation (smoothed if smoothing is on; the
    last weights if there was no validation); "last": the plain weights of the last update.
    tensorboard: folder for logs of loss, rate, speed and BLEU; no logs by default.
    encoded: folder of encoded corpora that trainings share, even at the same time; by default within `work`.
    Under DDP only the first rank returns; the processes of the others end here.  Raises InputError for an empty
    corpus or validation set, a vocabulary of another size than the network's, or missing processes on other nodes.
    """
    sizes = vocabulary.sizes, network.architecture.sizes
    if sizes[0] != sizes[1]:
        found, wanted = (" and ".join(f"{size:,}" for size in one if size) for one in sizes)
        raise InputError(
            f"{vocabulary.target.path}: {found} pieces, but the network has {wanted}; use the vocabulary it was "
            "made for"
        )
    pairs = read_columns(validation, ["source", "target"]).to_pydict()
    if not pairs["source"]:
        raise InputError(f"{validation}: the validation set is empty; look at the cleaning report")
    check_accelerator(hardware.accelerator, hardware.devices)
    torch.set_num_threads(hardware.threads)
    if hardware.accelerator != "cpu":
        set_gpu_defaults()
    network.guided |= config.guided_alignment > 0
    settings = {"config": asdict(config), "seed": seed, "start_update": start_update, "keep": keep}
    code = [__name__]
    if transform is not None:
        transform(network)
        code.append(transform.__module__)
    if companion is not None:
        settings |= companion_to_dict(companion)
        code.append(type(companion).__module__)
    first_rank = _first_rank(hardware)
    if not first_rank and hardware.nodes == 1:
        # If the first rank fails or is killed, NCCL would let this one wait on its GPU for half an hour.
        end_with_parent()
    with exclusive_folder(work) if first_rank else nullcontext():
        limits = config.max_pieces, bool(config.stages), bool(config.guided_alignment)
        processes = hardware.devices * hardware.threads
        data = shared_corpus(corpora, vocabulary, encoded or work / ENCODED, *limits, processes)
        if first_rank:
            identity = {
                "settings": settings,
                "network": tensors_hash(network.state_dict()),
                "corpora": data.identity,
                "validation": content_hash(validation),
                "hardware": asdict(hardware),
                "precision": training_precision(config.precision, hardware.accelerator),
                "code": code_of_module(*code),
                "torch": torch.__version__,
            }
            claim_folder(work, "identity.json", identity, keep=[ENCODED])
        accompanied = companion and companion.companion(network)
        records = transform is None and accompanied is None
        given = network, data, config, hardware, seed
        task, stream = task_and_stream(*given, start_update, accompanied, records)
        patient_from = max(0, last_begins(config.stages) - start_update)
        # A companion changes its network's passes, and a copy would not follow it.
        aside = records and hardware.accelerator != "cpu"
        given = *pairs.values(), vocabulary, config, work, patient_from
        validations = GreedyValidation(*given, aside=aside)
        checkpoints = Checkpoints(work, config.checkpoint_every)
        callbacks = [ProgressBar(config.updates), validations, checkpoints]
        trainer = lightning_trainer(config, hardware, callbacks, tensorboard)
        stream.rank, stream.ranks = trainer.global_rank, trainer.world_size
        stream.first_update = start_update
        if last := checkpoints.last():
            logging.info("continuing at update %s from %s", last.stem, last)
            stream.first_update += int(last.stem)
        loader = DataLoader(stream, batch_size=None)
        with accompanied.attached() if accompanied else nullcontext():
            trainer.fit(task, loader, ckpt_path=last, weights_only=True)
        if not trainer.is_global_zero:
            sys.exit(0)
        if keep == "best":
            network.load_state_dict(validations.best_state() or task.evaluated())
        if accompanied:
            accompanied.finish()
        network.cpu().eval()
        return Training(trainer.global_step, validations.history)


def tensors_hash(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return the SHA-256 over names, types and values of tensors."""
    digest = hashlib.sha256()
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def _first_rank(hardware: Hardware) -> bool:
    """Return True if this process is the first of its training, before there is a trainer that knows its rank."""
    names = ["LOCAL_RANK"]  # Lightning's
    if hardware.nodes > 1:
        names += ["NODE_RANK", "GROUP_RANK", "SLURM_PROCID"]
    return all(int(os.environ.get(name, "0")) == 0 for name in names)
