"""Prune a student by a recipe of the configuration, e.g. heads by confidence with late resetting (WNGT20 §4).

Read the recipe's initial model, the student's distilled corpus and a validation set. Write a smaller student and
pruning.json: the removed parts with their steps and scores, and the parts that remain.
"""

from weebill.workflow.job import job

from pathlib import Path

from weebill.pruning.methods import pruning_method
from weebill.translation.training.pruning_study import TranslationStudy, make_pruned
from weebill.translation.training.trainer import Hardware, TrainingConfig

with job(snakemake.log[0]):
    study = TranslationStudy(
        Path(snakemake.input.start),
        snakemake.input.corpora,
        snakemake.input.validation,
        TrainingConfig(**snakemake.params.training),
        snakemake.params.seed,
        Hardware(**snakemake.params.hardware),
        Path(snakemake.params.encoded),
    )
    make_pruned(
        Path(snakemake.output.model),
        Path(snakemake.output.history),
        snakemake.wildcards.recipe,
        pruning_method(snakemake.params.recipe),
        study,
    )
