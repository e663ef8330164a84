"""Publish a page: write its rows, and the page and its pictures from them (rules publish, publish_pruning)."""

from weebill.workflow.job import job

from pathlib import Path

from weebill.files import write_json
from weebill.report.published import collect, render

with job(snakemake.log[0]):
    params, files = snakemake.params, dict(snakemake.input.items())
    del files["page"]
    rows = collect(params.page, params.config, files, params.benchmarks, params.rules)
    write_json(snakemake.output.rows, rows)
    render(rows, Path(snakemake.output.page))
