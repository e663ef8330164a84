"""Measure ROUGE, with intervals, of the first sentences of the test articles as summaries (rule measure_lead)."""

from weebill.workflow.job import job

from pathlib import Path

from weebill.evaluation.quality.generation_quality import Measured, lead_quality
from weebill.files import write_json
from weebill.generation.models import load_tokenizer

with job(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    folder = Path(given.model[0])
    name = f"{snakemake.wildcards.model}: lead"
    measured = Measured(name, params.data, Path(given.data), folder, params.seed)
    rows = lead_quality(measured, load_tokenizer(folder), params.tokens, params.resamples)
    write_json(snakemake.output[0], rows)
