"""Publish a page: write its rows, and the page and its pictures from them (rules publish, publish_pruning)."""

from weebill.workflow.job import job

import json
from pathlib import Path
from pkgutil import resolve_name

from weebill.files import write_text
from weebill.report.rows import collect

with job(snakemake.log[0]):
    params, files = snakemake.params, dict(snakemake.input.items())
    del files["page"]
    rows = collect(params.page, params.config, files, params.benchmarks, params.rules)
    # The order of keys is that of the page's rows; `write_json` would sort them.
    write_text(snakemake.output.rows, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
    resolve_name(params.render)(rows, Path(snakemake.output.page))
