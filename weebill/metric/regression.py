"""Training of COMET regression models by unbabel-comet, in the environment `comet`.

All random choices are functions of the seed, the epoch and the batch, so that a killed training continues to the same
weights.  This module imports only what that environment has, and its special packages inside functions.
"""

import inspect
import json
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
from weebill.files import atomic_folder, content_hash, unfinished_work, write_json
from weebill.hugging_face.loading import pretrained_tokenizer
from weebill.kernels.cpu_matmul import training_linears, training_precision
from weebill.metric.encoder_family import KEY as FAMILY
from weebill.metric.encoder_family import MINILM, checked_family
from weebill.metric.regression_course import BEST, LAST, Batches, course_of
from weebill.metric.settings import RegressionSettings
from weebill.metric.training_table import read_segments
from weebill.replaceable import FolderKind, check_replaceable, has_keys
from weebill.workflow.code_version import code_of_module

# Hyperparameters of unbabel-comet that users cannot set here.
OWN = ("pretrained_model", "train_data", "validation_data", "load_pretrained_weights")
OWN += ("class_identifier", "local_files_only")
PRECISIONS = {"float32": "32-true", "bfloat16": "bf16-mixed"}
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

    encoder: a folder, or a name on the Hugging Face hub; the checkpoint records it literally.  A folder's
    configuration and tokenizer are copied to `encoder`, so that Weebill can read the checkpoint anywhere; a folder
    also decides the hyperparameter `encoder_model`.  The weights are those of the epoch with the best agreement on
    the validation table.  Unfinished work in `OUTPUT.work` is continued.
    Raises InputError if a table is faulty, a hyperparameter unknown or wrong for the encoder, or its folder has code.
    """
    kind, values = _class_of(settings), dict(settings.hyperparameters)
    local = Path(encoder).is_dir()
    if local:
        values[FAMILY] = checked_family(values.get(FAMILY), encoder)
        from weebill.hugging_face.foreign_code import refuse_code

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

    By default it takes that of xlm-roberta-base from the hub, which has MiniLM's pieces, but a job has no network.
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

            found, wanted = (torch.cat(one).cpu() for one in (self.found, self.wanted))
            if not found.isfinite().all():
                raise InputError(
                    "training: scores of the validation are no numbers; lower the learning rate"
                )
            tau = kendalltau(found, wanted).statistic
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
    course = course_of(settings, seed, work, batches)
    prepare = partial(model.prepare_sample, stage="fit")
    loaders = [
        DataLoader(training.to_dict("records"), batch_sampler=batches, collate_fn=prepare),
        DataLoader(validation.to_dict("records"), batch_size=size, collate_fn=prepare),
    ]
    trainer = pytorch_lightning.Trainer(
        accelerator="gpu" if accelerator == "gpu" else "cpu",  # also in a rehearsal
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
    with training_linears():
        trainer.fit(model, *loaders, ckpt_path=last if last.is_file() else None)
    return course.history
