"""Time all variants of a model in turn (rule measure_generation_speed)."""

import logging
from pathlib import Path

from goldcrest.evaluation.generation.speed import measure_generation
from goldcrest.files import write_json
from goldcrest.job import job

with job(snakemake.log[0]):
    folders = dict(zip(snakemake.params.variants, map(Path, snakemake.input.models), strict=True))
    speeds = measure_generation(
        folders, Path(snakemake.input.data), **snakemake.params.speed, report=logging.info
    )
    write_json(snakemake.output[0], [speed.to_dict() for speed in speeds])
