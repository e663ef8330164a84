"""Import text from files or the hub, and divide it for training, validation and testing (rule import_text)."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.generation.data import DataSettings, import_data

with job(snakemake.log[0]):
    params = snakemake.params
    import_data(DataSettings(**params.settings), snakemake.output[0], Places(*params.places))
