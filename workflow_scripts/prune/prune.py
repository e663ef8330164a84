"""Prune a student by a recipe of the configuration, e.g. heads by confidence with late resetting (WNGT20 §4).

From the student's reset checkpoint, its distilled corpus and a validation set, into a smaller student and heads.json
(which heads went, when and at what confidence, and which are left).
"""

from pathlib import Path

from goldcrest.job import job
from goldcrest.pruning.methods import pruning_method
from goldcrest.translation.pruning import make_pruned
from goldcrest.translation.study import TranslationStudy
from goldcrest.translation.training import Hardware, TrainingConfig

with job(snakemake.log[0]):
    study = TranslationStudy(
        Path(snakemake.input.checkpoint),
        [Path(corpus) for corpus in snakemake.input.corpora],
        Path(snakemake.input.validation),
        TrainingConfig(**snakemake.params.training),
        snakemake.params.seed,
        Hardware(**snakemake.params.hardware),
    )
    make_pruned(
        Path(snakemake.output.model),
        Path(snakemake.output.heads),
        snakemake.wildcards.recipe,
        pruning_method(snakemake.params.recipe),
        study,
    )
