"""Import text from files or the hub, and divide it for training, validation and test (rule import_text)."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.generation.data import Fields, TextData, import_data

with job(snakemake.log[0]):
    params = snakemake.params
    settings = {**params.settings, "fields": Fields(**params.settings["fields"])}
    import_data(TextData(**settings), snakemake.output[0], Places(*params.places))
