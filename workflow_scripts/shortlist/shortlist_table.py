"""Write the table of the shortlists (rule shortlist_table), from their measurements."""

from weebill.workflow.job import job

from weebill.evaluation.quality.shortlist import read_shortlist_measurements
from weebill.report.rendering import write_table
from weebill.report.shortlist import shortlist_table

with job(snakemake.log[0]):
    table = shortlist_table(read_shortlist_measurements(snakemake.input.measurements))
    write_table(table, snakemake.params.folder)
