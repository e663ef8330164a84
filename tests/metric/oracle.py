"""Scores of unbabel-comet, computed in its own environment: oracle.py TASK.json ANSWER.json.

TASK: {"score": {checkpoint: [samples, …]}, "write": {folder: hyperparameters}}: samples to score, and models to write
first.  For each checkpoint and its samples, the answer has the scores and, if there is any, the metadata.
"""

import json
import logging
import sys
import warnings
from pathlib import Path

import pytorch_lightning
import torch
import yaml
from comet import load_from_checkpoint
from comet.models import str2model


def main(task: str, answer: str) -> None:
    """Write models, load checkpoints, and predict scores."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    asked, found = json.loads(Path(task).read_text()), {}
    for folder, values in asked["write"].items():
        write(Path(folder), values)
    for folder, each in asked["score"].items():
        model = load_from_checkpoint(f"{folder}/checkpoints/model.ckpt", local_files_only=True)
        found[folder] = []
        for samples in each:
            made = model.predict(samples, batch_size=4, gpus=0, progress_bar=False)
            metadata = dict(made["metadata"]) if "metadata" in made else {}
            found[folder].append({"scores": made.scores, **metadata})
    Path(answer).write_text(json.dumps(found))


def write(folder: Path, values: dict) -> None:
    """Write a checkpoint of a random model, in Lightning's format."""
    torch.manual_seed(5)
    values = dict(values)
    kind = str2model[values.pop("class_identifier")]
    model = kind(**values, load_pretrained_weights=False, local_files_only=True)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    trainer = pytorch_lightning.Trainer(
        accelerator="cpu", logger=False, enable_progress_bar=False, enable_checkpointing=False
    )
    trainer.strategy.connect(model)
    trainer.save_checkpoint(folder / "checkpoints/model.ckpt")
    (folder / "hparams.yaml").write_text(yaml.safe_dump(dict(model.hparams)))


main(*sys.argv[1:])
