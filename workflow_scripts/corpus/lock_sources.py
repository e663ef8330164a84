"""Fetch the sources of the corpora, and record them in the lock file or compare them with it."""

from weebill.workflow.job import job

from weebill.corpus.importing import write_lock
from weebill.corpus.sources import Places

with job(snakemake.log[0]):
    params = snakemake.params
    languages, places = tuple(params.languages), Places(*params.places)
    write_lock(snakemake.output[0], params.sources, languages, places)
