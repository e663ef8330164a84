"""Write the tables of a generation experiment (rule generation_tables), from measurements, in every format."""

from goldcrest.job import job
from goldcrest.report.generation_page import tables_of
from goldcrest.report.generation_results import read_results
from goldcrest.report.rendering import write_table

with job(snakemake.log[0]):
    params = snakemake.params
    for table in tables_of(read_results(params.config, snakemake.input, params.pruned)):
        write_table(table, params.folder)
