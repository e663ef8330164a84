"""Fetch a model of the Hugging Face hub (rules fetch_…): from its name and commit into a folder."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.hugging_face.hub import fetch_model

with job(snakemake.log[0]):
    config = snakemake.config
    places = Places(config.get("local_dir"), config.get("download_cache"))
    fetch_model(*snakemake.params.origin, snakemake.output[0], places)
