"""Draw pairs of corpora with injected damage into a table for scoring (rule import_damaged)."""

from weebill.workflow.job import job

from weebill.corpus.labelled import import_damaged

with job(snakemake.log[0]):
    import_damaged(snakemake.input.corpora, snakemake.output[0], snakemake.params.seed)
