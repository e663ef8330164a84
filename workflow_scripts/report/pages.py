"""Write pages of results from measurements and Snakemake's benchmarks (rule pages)."""

from weebill.workflow.job import job

import os
from pathlib import Path

from weebill.files import write_text
from weebill.report.catalogue import maker
from weebill.report.costs import read_jobs
from weebill.report.results import Results
from weebill.report.tables.run_time import run_time_table

with job(snakemake.log[0]):
    params = snakemake.params
    results = Results.read(params.config, dict(snakemake.input.items()))
    run_time = run_time_table(read_jobs(params.benchmarks))
    for output, (make, pictures) in zip(map(Path, snakemake.output), params.pages, strict=True):
        figures = os.path.relpath(params.figures, output.parent)
        links = {heading: f"{figures}/{file}.svg" for file, heading in pictures.items()}
        write_text(output, maker("pages", make)(results, run_time, links))
