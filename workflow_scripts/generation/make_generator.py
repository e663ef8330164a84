"""Train a tokenizer and pre-train a small model on imported text (rule make_generator)."""

from weebill.workflow.job import job

from dataclasses import fields
from pathlib import Path

from weebill.generation.settings import Device, TrainingSettings
from weebill.generation.train_from_scratch import Shape, make_model

with job(snakemake.log[0]):
    settings, hardware = snakemake.params.settings, snakemake.params.hardware
    shape = Shape(**{field.name: settings[field.name] for field in fields(Shape)})
    make_model(
        Path(snakemake.output[0]),
        [Path(folder) for folder in snakemake.input.data],
        shape,
        TrainingSettings(**settings["training"]),
        settings.get("passage"),
        seed=snakemake.params.seed,
        device=Device(hardware["accelerator"], snakemake.threads),
    )
