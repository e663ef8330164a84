"""Publish one table: write its rows, and the page from them (rule publish_table)."""

from weebill.workflow.job import job

from pathlib import Path
from pkgutil import resolve_name

from weebill.files import write_json
from weebill.report.rows import collect_table

with job(snakemake.log[0]):
    params = snakemake.params
    rows = collect_table(snakemake.input[0], params.rules)
    write_json(snakemake.output.rows, rows)
    resolve_name(params.render)(rows, Path(snakemake.output.page))
