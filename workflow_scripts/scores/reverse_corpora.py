"""Swap sides (rule reverse_corpora): the kept pairs of the cleaned corpora, and of the validation set."""

from goldcrest.corpus.reversal import reverse
from goldcrest.job import job

with job(snakemake.log[0]):
    reverse(snakemake.input.corpora, snakemake.output.corpora)
    reverse([snakemake.input.validation], snakemake.output.validation)
