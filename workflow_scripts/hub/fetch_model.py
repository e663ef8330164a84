"""Fetch a model from the Hugging Face hub by its name and commit (rules fetch_…)."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.hugging_face.hub import fetch_model

with job(snakemake.log[0]):
    params = snakemake.params
    fetch_model(*params.origin, snakemake.output[0], Places(*params.places))
