"""Write the tables of metrics (rule metric_tables), from agreements, sizes and times, in every format."""

from weebill.workflow.job import job

from weebill.report.metric_results import read_results
from weebill.report.metric_tables import agreement_table, claims_table, paper_table
from weebill.report.rendering import write_table

with job(snakemake.log[0]):
    results = read_results(snakemake.params.config, snakemake.input)
    tables = [agreement_table(results), paper_table(results, 1), paper_table(results, 2)]
    for table in [*tables, claims_table(results)]:
        write_table(table, snakemake.params.folder)
