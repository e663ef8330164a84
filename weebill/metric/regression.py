"""Training of COMET regression models by unbabel-comet, in the environment `comet`.

All random choices are functions of the seed, the epoch and the batch, so that a killed training continues to the same
weights.  This module imports only what that environment has, and its special packages inside functions.
"""

import inspect
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import torch
import yaml

from weebill.errors import InputError, nearest
from weebill.files import atomic_folder, atomic_path, content_hash, unfinished_work, write_json
from weebill.hugging_face.loading import pretrained_tokenizer
from weebill.kernels.cpu_matmul import OneDnnLinears, training_precision
from weebill.metric.encoder_family import KEY as FAMILY
from weebill.metric.encoder_family import MINILM, checked_family
from weebill.metric.settings import RegressionSettings
from weebill.metric.training_table import TEXTS, read_segments
from weebill.replaceable import FolderKind, check_replaceable, has_keys
from weebill.workflow.code_version import code_of_module
from weebill.workflow.progress import tell

# Hyperparameters of unbabel-comet that users cannot set here.
OWN = ("pretrained_model", "train_data", "validation_data", "load_pretrained_weights")
OWN += ("class_identifier", "local_files_only")
PRECISIONS = {"float32": "32-true", "bfloat16": "bf16-mixed"}
WINDOW = 50  # batches sorted by length together
LAST, BEST = "last.ckpt", "best.ckpt"
STATE = "weebill"  # key in a checkpoint of the work folder, for what Lightning does not keep
RECORD = "training.json"
# Files of an encoder's folder that a metric needs.
ENCODER_FILES = ("config.json", "tokenizer.json", "sentencepiece.bpe.model")
KIND = FolderKind(
    always=("checkpoints/model.ckpt", "hparams.yaml", RECORD),
    perhaps=tuple(f"encoder/{name}" for name in ENCODER_FILES),
    mark=(RECORD, lambda file: has_keys(file, {"validations", "code"})),
)


def train(
    settings: RegressionSettings,
    encoder: str,
    training: str | Path,
    validation: str | Path,
    output: str | Path,
    seed: int,
    *,
    threads: int = 1,
    accelerator: str = "cpu",
) -> None:
    """Train, and write a checkpoint's folder as unbabel-comet does: hparams.yaml, checkpoints/model.ckpt; and RECORD.

    encoder: a folder, or a name on the Hugging Face hub; the checkpoint records it literally, and keeps a folder's
    configuration and tokenizer in `encoder`, so that Weebill can read it anywhere; a folder also decides the
    hyperparameter `encoder_model`.  The weights are those of the epoch with the best agreement on the validation
    table.  Unfinished work in `OUTPUT.work` is continued.
    Raises InputError if a table is faulty, a hyperparameter unknown or not the encoder's, or its folder brings code.
    """
    kind, values = _class_of(settings), dict(settings.hyperparameters)
    local = Path(encoder).is_dir()
    if local:
        values[FAMILY] = checked_family(values.get(FAMILY), encoder)
        from weebill.hugging_face.loading import refuse_code

        refuse_code(encoder, types=False)
    referenced = settings.kind == "regression_metric"
    tables = [read_segments(path, referenced) for path in (training, validation)]
    torch.set_num_threads(threads)
    check_replaceable(output, KIND)
    identity = {
        "settings": asdict(settings),
        "encoder": content_hash(encoder) if local else encoder,
        "training": content_hash(training),
        "validation": content_hash(validation),
        "seed": seed,
        "threads": threads,
        "accelerator": accelerator,
        "code": code_of_module(__name__),
        "torch": torch.__version__,
    }
    with unfinished_work(output, identity) as work:
        torch.manual_seed(seed)
        with _pieces_of_folder(encoder, values.get(FAMILY)):
            model = kind(**values, pretrained_model=encoder, local_files_only=local)
        model.train()  # transformers returns encoders in evaluation mode, and Lightning leaves them so
        history = _fit(model, *tables, settings, seed, work, accelerator)
        with atomic_folder(output, KIND) as folder:
            (folder / "checkpoints").mkdir()
            shutil.copy(work / BEST, folder / "checkpoints/model.ckpt")
            hparams = json.loads(json.dumps(dict(model.hparams)))  # plain lists and dictionaries
            (folder / "hparams.yaml").write_text(yaml.safe_dump(hparams), encoding="utf-8")
            write_json(folder / RECORD, {**identity, "validations": history})
            if local:
                (folder / "encoder").mkdir()
                for file in filter(Path.is_file, (Path(encoder, one) for one in ENCODER_FILES)):
                    shutil.copy(file, folder / "encoder")


@contextmanager
def _pieces_of_folder(encoder: str, family: str | None) -> Iterator[None]:
    """Let unbabel-comet read a MiniLM's tokenizer from the encoder's folder.

    It would take that of xlm-roberta-base from the hub: its pieces are MiniLM's, but a job has no network.
    """
    if family != MINILM or not Path(encoder).is_dir():
        yield
        return
    from comet.encoders import minilm

    whole = minilm.XLMRobertaTokenizerFast

    def read(name: str, **options: Any) -> Any:
        return pretrained_tokenizer(encoder, whole, types=False)

    minilm.XLMRobertaTokenizerFast = SimpleNamespace(from_pretrained=read)
    try:
        yield
    finally:
        minilm.XLMRobertaTokenizerFast = whole


def _class_of(settings: RegressionSettings) -> type:
    """Return unbabel-comet's class of models, adapted to our data."""
    from comet.models import str2model

    base = str2model[settings.kind]
    known = [name for name in inspect.signature(base).parameters if name not in OWN]
    for name in settings.hyperparameters:
        if name not in known:
            raise InputError(
                f"metric: unbabel-comet has no hyperparameter '{name}' to set{nearest(name, known)}"
            )

    class Learner(base):
        """Model that reads no files, and validates by one number on one table."""

        def setup(self, stage: str) -> None:
            """Do nothing: the data are given."""

        def validation_step(self, batch: tuple, index: int) -> None:
            """Collect the scores of a batch."""
            inputs, target = batch
            self.found.append(self.forward(**inputs).score.float())
            self.wanted.append(target.score.float())

        def on_validation_epoch_start(self) -> None:
            """Discard the scores of the previous epoch."""
            self.found, self.wanted = [], []

        def on_validation_epoch_end(self) -> None:
            """Log Kendall's τ-b; −1 if all segments have the same score."""
            from scipy.stats import kendalltau

            tau = kendalltau(*(torch.cat(one).cpu() for one in (self.found, self.wanted))).statistic
            self.kendall = -1.0 if np.isnan(tau) else float(tau)

    Learner.__name__ = base.__name__
    return Learner


def _fit(
    model: Any,
    training: pd.DataFrame,
    validation: pd.DataFrame,
    settings: RegressionSettings,
    seed: int,
    work: Path,
    accelerator: str,
) -> list[dict[str, float]]:
    """Run or continue a training; return its validations."""
    import pytorch_lightning
    from pytorch_lightning.plugins.environments import LightningEnvironment
    from torch.utils.data import DataLoader

    torch.backends.cuda.enable_cudnn_sdp(False)  # it prepares each new shape for 40 ms
    size = model.hparams.batch_size
    batches = Batches(training, size, seed)
    model.first_epoch_total_steps = len(training) // size
    course = _course(settings, seed, work, batches)
    prepare = partial(model.prepare_sample, stage="fit")
    loaders = [
        DataLoader(training.to_dict("records"), batch_sampler=batches, collate_fn=prepare),
        DataLoader(validation.to_dict("records"), batch_size=size, collate_fn=prepare),
    ]
    trainer = pytorch_lightning.Trainer(
        accelerator="gpu" if accelerator == "gpu" else "cpu",  # a rehearsal's too
        devices=1,
        plugins=[LightningEnvironment()],  # otherwise it would expect srun on Slurm
        precision=PRECISIONS[training_precision(settings.precision, accelerator)],
        max_epochs=settings.epochs,
        accumulate_grad_batches=settings.accumulate,
        gradient_clip_val=settings.clip_norm,
        num_sanity_val_steps=0,
        logger=False,
        enable_checkpointing=True,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
        callbacks=[course],
    )
    last = work / LAST
    with OneDnnLinears():
        trainer.fit(model, *loaders, ckpt_path=last if last.is_file() else None)
    return course.history


class Batches:
    """Sampler of batches of similar length as rows (b,); a function of seed and epoch."""

    def __init__(self, table: pd.DataFrame, size: int, seed: int) -> None:
        texts = [name for name in TEXTS if name in table]
        self._lengths = sum(table[name].str.len().to_numpy() for name in texts)
        self._size, self._seed = size, seed
        self.epoch, self.first = 0, 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch; Lightning calls this before each epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self._lengths) // self._size)

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the batches of the epoch from number `first` on; later epochs start at 0."""
        draw = np.random.default_rng((self._seed, self.epoch))
        order = draw.permutation(len(self._lengths))
        window = np.arange(len(order)) // (WINDOW * self._size)
        order = order[np.lexsort((order, self._lengths[order], window))]
        cuts = np.arange(0, len(order), self._size)
        first, self.first = self.first, 0
        for begin in draw.permutation(cuts)[first:]:
            yield order[begin : begin + self._size].tolist()


def _course(settings: RegressionSettings, seed: int, work: Path, batches: Batches) -> Any:
    """Make Lightning's callback for seeds, validations, checkpoints and patience."""
    from pytorch_lightning.callbacks import Checkpoint

    class Course(Checkpoint):  # Lightning runs checkpoints after all other callbacks
        def __init__(self) -> None:
            self.history: list[dict[str, float]] = []

        def on_train_start(self, trainer: Any, model: Any) -> None:
            """Stop if the patience has ended, also in a resumed run."""
            if settings.patience and self._waited() >= settings.patience:
                trainer.should_stop = True

        def on_train_batch_start(self, trainer: Any, model: Any, batch: Any, index: int) -> None:
            torch.manual_seed(hash((seed, trainer.current_epoch, index)) % 2**63)

        def on_train_batch_end(
            self, trainer: Any, model: Any, outputs: Any, batch: Any, index: int
        ) -> None:
            updates, waiting = divmod(index + 1, settings.accumulate)
            due = not waiting and updates % settings.checkpoint_every == 0
            if due and index + 1 < len(batches):
                self._save(trainer, index + 1)
            done = trainer.current_epoch * len(batches) + index + 1
            tau = f"Kendall's τ {self.history[-1]['kendall']:.3f}" if self.history else ""
            tell(done, settings.epochs * len(batches), "batches", tau)

        def on_train_epoch_end(self, trainer: Any, model: Any) -> None:
            self.history.append({"epoch": trainer.current_epoch + 1, "kendall": model.kendall})
            logging.info("epoch %d: Kendall's τ %.4f", trainer.current_epoch + 1, model.kendall)
            if not self._waited():
                with atomic_path(work / BEST) as partial:
                    trainer.save_checkpoint(partial, weights_only=True)
            self.on_train_start(trainer, model)
            self._save(trainer, 0)

        def _save(self, trainer: Any, batch: int) -> None:
            self.batch = batch
            with atomic_path(work / LAST) as partial:
                trainer.save_checkpoint(partial)

        def _waited(self) -> int:
            """Return the number of epochs since the best one."""
            best = max(self.history, key=lambda row: row["kendall"], default={"epoch": 0})
            return len(self.history) - best["epoch"]

        def on_save_checkpoint(self, trainer: Any, model: Any, checkpoint: dict) -> None:
            checkpoint[STATE] = {
                "history": self.history,
                "batch": self.batch,
                "frozen": model._frozen,
                "epochs": model.epoch_nr,
            }

        def on_load_checkpoint(self, trainer: Any, model: Any, checkpoint: dict) -> None:
            state = checkpoint[STATE]
            self.history, batches.first = state["history"], state["batch"]
            model.epoch_nr = state["epochs"]
            if not state["frozen"]:
                model.unfreeze_encoder()

    return Course()
