"""Write the kept pairs of a table as parts that bicleaner's environment reads (rule bicleaner_pairs)."""

from weebill.workflow.job import job

from weebill.corpus.bicleaner.exchange import write_pairs

with job(snakemake.log[0]):
    write_pairs(snakemake.input.corpus, snakemake.output[0])
