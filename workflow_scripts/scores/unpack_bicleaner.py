"""Fetch and unpack a published bicleaner-ai model (rule unpack_bicleaner), its checksum verified."""

from weebill.workflow.job import job

from weebill.corpus.bicleaner.model_archive import unpack
from weebill.corpus.sources import Places, local_file

with job(snakemake.log[0]):
    params = snakemake.params
    unpack(local_file(params.model, params.sha256, Places(*params.places)), snakemake.output[0])
