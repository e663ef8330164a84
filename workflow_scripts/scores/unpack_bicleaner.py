"""Fetch a published bicleaner-ai model, verify its checksum, and unpack it (rule unpack_bicleaner)."""

from weebill.workflow.job import job

from weebill.corpus.bicleaner.model_archive import unpack
from weebill.corpus.sources import Places, local_file

with job(snakemake.log[0]):
    params = snakemake.params
    unpack(local_file(params.model, params.sha256, Places(*params.places)), snakemake.output[0])
