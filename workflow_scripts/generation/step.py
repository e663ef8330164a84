"""Make a model smaller by one step (rules of steps.smk): from a model folder and text into another folder.

Pruning writes pruning.json beside it: the schedule, the scores, and what went.
"""

from weebill.workflow.job import job

from pathlib import Path

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
        measured=params.measured,
        vocabulary_pruned=params.vocabulary_pruned,
        **params.lengths,
    )
    step_of(params.step).run(place)
