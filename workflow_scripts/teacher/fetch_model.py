"""Fetch a model of the Hugging Face hub (rule fetch_model): from its name and commit into a folder, checked."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.experiment.translating_models import hugging_face_models
from weebill.hugging_face.hub import fetch_model
from weebill.translation.model.hugging_face_folder import check_folder

with job(snakemake.log[0]):
    config = snakemake.config
    origin, folder = tuple(snakemake.params.origin), snakemake.output[0]
    fetch_model(*origin, folder, Places(config.get("local_dir"), config.get("download_cache")))
    for model in hugging_face_models(config):
        if (model.place, model.revision) == origin:
            check_folder(folder, model.languages, model.coded)
