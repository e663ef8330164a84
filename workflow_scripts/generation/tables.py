"""Write the tables of a generation experiment (rule generation_tables), from measurements, in every format."""

from weebill.workflow.job import job

from weebill.report.generation_page import tables_of
from weebill.report.generation_results import read_results
from weebill.report.rendering import write_table

with job(snakemake.log[0]):
    params = snakemake.params
    for table in tables_of(read_results(params.config, snakemake.input, params.pruned)):
        write_table(table, params.folder)
