"""Fetch the originals of a public text, and make the text."""

from weebill.workflow.job import job

from weebill.corpus.origins import origin
from weebill.corpus.sources import Places

with job(snakemake.log[0]):
    text = origin(snakemake.wildcards.text, snakemake.params.own)
    text.make(snakemake.output[0], Places(*snakemake.params.places))
