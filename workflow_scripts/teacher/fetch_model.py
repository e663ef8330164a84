"""Fetch a model from the Hugging Face hub by its name and commit, and check it (rule fetch_model)."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.hugging_face.hub import fetch_model
from weebill.translation.model.hugging_face_folder import check_folder

with job(snakemake.log[0]):
    params, folder = snakemake.params, snakemake.output[0]
    fetch_model(*params.origin, folder, Places(*params.places))
    for languages, coded in params.translations:
        check_folder(folder, tuple(languages), coded)
