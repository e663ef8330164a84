"""Train a student up to the checkpoint that its pruning recipes reset to (WNGT20 §4).

Read the distilled corpus, a validation set and a vocabulary, and write a model folder with the last update's weights.
"""

from weebill.workflow.job import job

from pathlib import Path

from weebill.translation.training.trainer import Hardware, TrainingConfig, make_model, unwatched

with job(snakemake.log[0]):
    config = TrainingConfig(**snakemake.params.training)
    make_model(
        Path(snakemake.output[0]),
        "reset-checkpoint",
        snakemake.params.entry,
        snakemake.input.vocabulary,
        snakemake.input.corpora,
        snakemake.input.validation,
        unwatched(config, int(snakemake.wildcards.updates)),
        seed=snakemake.params.seed,
        hardware=Hardware(**snakemake.params.hardware),
        keep="last",
        encoded=snakemake.params.encoded,
    )
