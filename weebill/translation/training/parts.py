"""Parts of a training on PyTorch Lightning: its task, the stream of its updates, and the trainer that runs them."""

from pathlib import Path

import lightning
from lightning.pytorch.loggers import TensorBoardLogger
from lightning.pytorch.plugins.environments import LightningEnvironment

from weebill.errors import InputError
from weebill.kernels.cpu_matmul import training_precision
from weebill.kernels.graphs import GraphRecorder, PlainRecorder, Recorder
from weebill.pruning.study import Companion
from weebill.translation.model.network import Translator
from weebill.translation.training.checkpoints import CheckpointFiles
from weebill.translation.training.encoding import EncodedCorpus
from weebill.translation.training.recorded import keeps_card_waiting
from weebill.translation.training.settings import Hardware, TrainingConfig
from weebill.translation.training.task import LOGGED, TranslationTask, UpdateStream

PRECISIONS = {"float32": "32-true", "bfloat16": "bf16-mixed"}


def task_and_stream(
    network: Translator,
    corpus: EncodedCorpus,
    config: TrainingConfig,
    hardware: Hardware,
    seed: int,
    start_update: int = 0,
    companion: Companion | None = None,
    records: bool = True,
) -> tuple[TranslationTask, UpdateStream]:
    """Return the task that trains a network, in training mode, and the stream of its updates for one process.

    records: False if passes cannot be recorded, because they change from one update to the next.
    """
    recorder = _recorder(network, config, hardware) if records else None
    task = TranslationTask(network, config, seed, start_update, companion, recorder)
    task.train()  # a network read from its folder is in evaluation mode
    stream = UpdateStream(corpus, config, seed)
    stream.repeating, stream.pinned = recorder is not None, hardware.accelerator == "gpu"
    return task, stream


def _recorder(
    network: Translator, config: TrainingConfig, hardware: Hardware
) -> type[Recorder] | None:
    """Return the recorder of passes whose shapes repeat; None if each pass is launched anew."""
    alone = hardware.accelerator != "cpu" and hardware.processes == 1
    if not (alone and config.cuda_graphs and not config.guided_alignment):
        return None
    if not keeps_card_waiting(network, config.batch_tokens):
        return None
    return GraphRecorder if hardware.accelerator == "gpu" else PlainRecorder


def lightning_trainer(
    config: TrainingConfig, hardware: Hardware, callbacks: list, tensorboard: Path | None = None
) -> lightning.Trainer:
    """Make Lightning's trainer.  Raises InputError if processes that it needs have not been started."""
    trainer = lightning.Trainer(
        accelerator="gpu" if hardware.accelerator == "gpu" else "cpu",  # also in a rehearsal
        devices=hardware.devices,
        num_nodes=hardware.nodes,
        strategy="ddp" if hardware.processes > 1 else "auto",
        # On Slurm, Lightning assumes that srun has started all processes; Snakemake's srun starts one.
        plugins=[
            CheckpointFiles(aside=hardware.accelerator != "cpu"),
            *([LightningEnvironment()] if hardware.nodes == 1 else []),
        ],
        precision=PRECISIONS[training_precision(config.precision, hardware.accelerator)],
        max_epochs=1,  # the stream has no end; callbacks stop the training
        logger=TensorBoardLogger(tensorboard, name="", version="") if tensorboard else False,
        log_every_n_steps=LOGGED,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
        callbacks=callbacks,
    )
    cluster = trainer.strategy.cluster_environment if hardware.nodes > 1 else None
    started = cluster is None or cluster.creates_processes_externally
    if not started or trainer.world_size != hardware.processes:
        raise InputError(
            f"hardware: {hardware.devices} devices on {hardware.nodes} nodes need {hardware.processes} "
            "processes, started by srun or torchrun; Snakemake starts one: set hardware.nodes to 1"
        )
    return trainer
