"""Apply one compression step to a model folder, using text, and write another folder (rules of steps.smk).

Pruning also writes pruning.json: the schedule, the scores, and the removed parts.
"""

from weebill.workflow.job import job

from pathlib import Path

from weebill.generation.settings import Device
from weebill.generation.step import Place
from weebill.generation.steps import step_of

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
    step_of(**params.step).run(place)
