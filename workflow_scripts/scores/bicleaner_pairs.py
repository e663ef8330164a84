"""Write the kept pairs of a table (rule bicleaner_pairs) as parts that bicleaner's environment reads."""

from weebill.workflow.job import job

from weebill.corpus.bicleaner.exchange import write_pairs

with job(snakemake.log[0]):
    write_pairs(snakemake.input.corpus, snakemake.output[0])
