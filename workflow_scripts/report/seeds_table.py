"""Write the table of other seeds (rule seeds_table), from comparisons over seeds."""

from goldcrest.evaluation.seeds import read_seeds_comparisons
from goldcrest.job import job
from goldcrest.report.rendering import write_table
from goldcrest.report.seeds import seeds_table

with job(snakemake.log[0]):
    comparisons = read_seeds_comparisons(snakemake.input)
    write_table(seeds_table(comparisons), snakemake.params.folder)
