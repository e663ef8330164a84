"""Train a student up to the checkpoint that its pruning recipes reset to (WNGT20 §4).

Read the distilled corpus, a validation set and a vocabulary, and write a model folder with the last update's weights.
"""

from weebill.workflow.job import job

from pathlib import Path

from weebill.translation.training.pruned_students import make_checkpoint
from weebill.translation.training.trainer import Hardware, TrainingConfig

with job(snakemake.log[0]):
    make_checkpoint(
        Path(snakemake.output[0]),
        snakemake.params.entry,
        Path(snakemake.input.vocabulary),
        [Path(corpus) for corpus in snakemake.input.corpora],
        Path(snakemake.input.validation),
        TrainingConfig(**snakemake.params.training),
        int(snakemake.wildcards.updates),
        seed=snakemake.params.seed,
        hardware=Hardware(**snakemake.params.hardware),
    )
