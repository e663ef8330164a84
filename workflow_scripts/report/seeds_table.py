"""Write the table of other seeds (rule seeds_table), from comparisons over seeds."""

from weebill.workflow.job import job

from weebill.evaluation.quality.seeds import read_seeds_comparisons
from weebill.report.rendering import write_table
from weebill.report.seeds import seeds_table

with job(snakemake.log[0]):
    comparisons = read_seeds_comparisons(snakemake.input)
    write_table(seeds_table(comparisons), snakemake.params.folder)
