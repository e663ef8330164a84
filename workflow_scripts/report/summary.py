"""Write the page of all results (rule summary), from measurements and Snakemake's benchmarks."""

import os
from pathlib import Path

from goldcrest.files import read_json, write_text
from goldcrest.job import job
from goldcrest.report.experiment_page import FIGURES, experiment_page
from goldcrest.report.results import Results
from goldcrest.report.run_time import run_time_table

with job(snakemake.log[0]):
    files, params, output = snakemake.input, snakemake.params, Path(snakemake.output[0])
    results = Results.read(params.config, files.quality, files.sizes, files.speed, files.latency)
    links = {
        FIGURES[Path(path).stem]: os.path.relpath(path, output.parent) for path in files.figures
    }
    run_time = run_time_table(params.benchmarks)
    benchmark = read_json(files.engines[0]) if files.engines else None
    write_text(output, experiment_page(results, run_time, params.config, links, benchmark))
