"""Measure what a variant weighs (rule measure_generation_size)."""

from goldcrest.evaluation.generation.size import generation_size
from goldcrest.files import write_json
from goldcrest.job import job

with job(snakemake.log[0]):
    size = generation_size(snakemake.wildcards.variant, snakemake.input.model[0])
    write_json(snakemake.output[0], size.to_dict())
