"""Fetch and unpack a published bicleaner-ai model (rule unpack_bicleaner), its checksum verified."""

from weebill.workflow.job import job

from weebill.corpus.bicleaner.model_archive import unpack
from weebill.corpus.sources import Places, local_file

with job(snakemake.log[0]):
    config, params = snakemake.config, snakemake.params
    places = Places(config.get("local_dir"), config.get("download_cache"))
    unpack(local_file(params.model, params.sha256, places), snakemake.output[0])
