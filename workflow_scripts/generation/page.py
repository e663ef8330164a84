"""Write the page of all results (rule generation_page), from measurements and Snakemake's benchmarks."""

from weebill.workflow.job import job

import os
from pathlib import Path

from weebill.files import write_text
from weebill.report.generation_page import generation_page
from weebill.report.generation_results import read_results
from weebill.report.run_time import run_time_table

with job(snakemake.log[0]):
    params, output = snakemake.params, Path(snakemake.output[0])
    figures = {
        title: os.path.relpath(path, output.parent)
        for title, path in zip(params.titles, snakemake.input.figures, strict=True)
    }
    results = read_results(params.config, snakemake.input, params.pruned)
    write_text(output, generation_page(results, run_time_table(params.benchmarks), figures))
