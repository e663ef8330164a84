"""Make a model smaller by one step (rules of steps.smk): from a model folder and text into another folder.

Pruning writes pruning.json beside it: the schedule, the scores, and what went.
"""

from weebill.workflow.job import job

from pathlib import Path

from weebill.experiment.pipelines import measured_lengths, model_of, vocabulary_pruned
from weebill.generation.settings import Device
from weebill.generation.steps import Place, step_of

with job(snakemake.log[0]):
    params = snakemake.params
    place = Place(
        Path(snakemake.input.model[0]),
        Path(snakemake.input.data),
        Path(snakemake.output.model),
        seed=params.seed,
        device=Device(params.hardware["accelerator"], snakemake.threads),
        # No parameters of the rule: a training need not be repeated where these change.
        measured=measured_lengths(snakemake.config, model_of(snakemake.wildcards.origin)),
        vocabulary_pruned=vocabulary_pruned(snakemake.config, model_of(snakemake.wildcards.origin)),
        **params.lengths,
    )
    step_of(params.step).run(place)
