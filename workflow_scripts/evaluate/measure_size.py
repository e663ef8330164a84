"""Measure a variant's shape and its exact size in bytes, also compressed (rule measure_size)."""

from weebill.workflow.job import job

from dataclasses import asdict

from weebill.evaluation.measurement import Variant
from weebill.evaluation.size.translation_size import measure_size
from weebill.files import write_json

with job(snakemake.log[0]):
    models = snakemake.input.model
    folders = [models] if isinstance(models, str) else list(models)
    size = measure_size(Variant.parse(snakemake.params.variant), folders)
    write_json(snakemake.output[0], asdict(size))
