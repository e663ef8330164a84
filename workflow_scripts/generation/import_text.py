"""Import text (rule import_text): from files or the hub into parts to train, validate and test on."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.generation.data import DataSettings, import_data

with job(snakemake.log[0]):
    config = snakemake.config
    places = Places(config.get("local_dir"), config.get("download_cache"))
    import_data(DataSettings(**snakemake.params.settings), snakemake.output[0], places)
