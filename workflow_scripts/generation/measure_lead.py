"""Measure what the test articles begin with as summaries (rule measure_lead): ROUGE with intervals."""

from pathlib import Path

from goldcrest.evaluation.generation.quality import Measured, lead_quality
from goldcrest.files import write_json
from goldcrest.generation.models import load_tokenizer
from goldcrest.job import job

with job(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    folder = Path(given.model[0])
    name = f"{snakemake.wildcards.model}: lead"
    measured = Measured(name, params.data, Path(given.data), folder, params.seed)
    rows = lead_quality(measured, load_tokenizer(folder), params.tokens, params.resamples)
    write_json(snakemake.output[0], [row.to_dict() for row in rows])
