"""Measure a variant's size (rule measure_generation_size)."""

from weebill.workflow.job import job

from weebill.evaluation.size.generation_size import generation_size
from weebill.files import write_json

with job(snakemake.log[0]):
    size = generation_size(snakemake.wildcards.variant, snakemake.input.model[0])
    write_json(snakemake.output[0], size)
