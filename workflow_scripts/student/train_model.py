"""Train a teacher or student on corpora with a validation set and vocabularies, and write a model folder."""

from weebill.workflow.job import job

from pathlib import Path

from weebill.translation.training.trainer import Hardware, TrainingConfig, make_model

with job(snakemake.log[0]):
    make_model(
        Path(snakemake.output[0]),
        snakemake.params.kind,
        snakemake.params.entry,
        snakemake.input.vocabulary,
        snakemake.input.corpora,
        snakemake.input.validation,
        TrainingConfig(**snakemake.params.training),
        seed=snakemake.params.seed,
        hardware=Hardware(**snakemake.params.hardware),
        tensorboard=Path(snakemake.params.tensorboard),
        encoded=snakemake.params.get("encoded"),
    )
