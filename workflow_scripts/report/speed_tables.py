"""Write all tables of speeds (rule speed_tables), as CSV, Markdown, LaTeX and pages."""

from goldcrest.job import job
from goldcrest.report.overview import speed_table
from goldcrest.report.paper_tables import TABLES, build
from goldcrest.report.rendering import write_table
from goldcrest.report.results import Results

with job(snakemake.log[0]):
    files = snakemake.input
    results = Results.read(snakemake.params.config, files.quality, files.sizes, files.speed)
    tables = [build(definition, results, speed=True) for definition in TABLES if definition.speed]
    for table in [speed_table(results), *tables]:
        write_table(table, snakemake.params.folder)
