"""Write all tables without timings (rule tables), from qualities and sizes, as CSV, Markdown, LaTeX and pages."""

from weebill.workflow.job import job

from weebill.report.overview import heads_table, variants_table
from weebill.report.paper_tables import TABLES, build
from weebill.report.pruning import worth_table
from weebill.report.rendering import write_table
from weebill.report.results import Results

with job(snakemake.log[0]):
    files = snakemake.input
    results = Results.read(
        snakemake.params.config, files.quality, files.sizes, comparisons=files.comparisons
    )
    tables = [variants_table(results), heads_table(results)]
    tables += [build(definition, results) for definition in TABLES]
    if results.comparisons:
        tables.append(worth_table(results))
    for table in tables:
        write_table(table, snakemake.params.folder)
