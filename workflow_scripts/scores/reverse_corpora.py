"""Swap the sides of the kept pairs of the cleaned corpora and of the validation set (rule reverse_corpora)."""

from weebill.workflow.job import job

from weebill.corpus.table import reverse

with job(snakemake.log[0]):
    reverse(snakemake.input.corpora, snakemake.output.corpora)
    reverse([snakemake.input.validation], snakemake.output.validation)
