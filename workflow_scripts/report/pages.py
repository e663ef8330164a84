"""Write pages of results from measurements and Snakemake's benchmarks (rule pages)."""

from weebill.workflow.job import job

import os
from pathlib import Path

from weebill.files import write_text
from weebill.report.catalogue import maker
from weebill.report.costs import read_jobs
from weebill.report.figures.alt_text import picture
from weebill.report.results import Results

with job(snakemake.log[0]):
    params = snakemake.params
    results = Results.read(params.config, dict(snakemake.input.items()))
    jobs = read_jobs(params.benchmarks)
    for output, (make, pictures) in zip(map(Path, snakemake.output), params.pages, strict=True):
        figures = os.path.relpath(params.figures, output.parent)
        shown = {
            heading: picture(f"{figures}/{file}.svg", Path(params.figures) / f"{file}.svg")
            for file, heading in pictures.items()
        }
        write_text(output, maker("pages", make)(results, jobs, shown))
