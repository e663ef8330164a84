"""Write tables and a figure of the effects of cleaning on the corpora (rule cleaning_report)."""

from weebill.workflow.job import job

from weebill.corpus.report import as_json, corpus_report
from weebill.files import write_json
from weebill.report.figures.cleaning import cleaning_figure
from weebill.report.figures.drawing import save
from weebill.report.rendering import write_table
from weebill.report.tables.cleaning import cleaning_tables

with job(snakemake.log[0]):
    params = snakemake.params
    cleaned = zip(params.corpora, snakemake.input.corpora, strict=True)
    reports = [corpus_report(name, table, params.seed) for name, table in cleaned]
    write_json(snakemake.output.json, as_json(reports))
    for table in cleaning_tables(reports, params.languages):
        write_table(table, params.tables)
    save(cleaning_figure(reports), params.figures, "cleaning_waterfall")
