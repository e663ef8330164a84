"""Fetch what the corpora are read from, and record or compare it: from the configuration into the lock file."""

from weebill.workflow.job import job

from weebill.corpus.sources import Places
from weebill.corpus.sources_lock import write_lock

with job(snakemake.log[0]):
    params = snakemake.params
    languages, places = tuple(params.languages), Places(*params.places)
    write_lock(snakemake.output[0], params.sources, languages, places)
