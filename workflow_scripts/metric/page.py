"""Write the page of all results (rule metric_page), from measurements and Snakemake's benchmarks."""

from weebill.workflow.job import job

import os
from pathlib import Path

from weebill.files import write_text
from weebill.report.metric_page import metric_page
from weebill.report.metric_results import read_results
from weebill.report.run_time import run_time_table

with job(snakemake.log[0]):
    params, output = snakemake.params, Path(snakemake.output[0])
    figures = {
        title: os.path.relpath(path, output.parent)
        for title, path in zip(params.titles, snakemake.input.figures, strict=True)
    }
    results = read_results(params.config, snakemake.input)
    write_text(output, metric_page(results, run_time_table(params.benchmarks), figures))
