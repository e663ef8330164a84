"""Write the page of all results (rule summary), from measurements and Snakemake's benchmarks."""

import os
from pathlib import Path

from goldcrest.evaluation.gpu_speed import read_gpu_speeds
from goldcrest.evaluation.shortlist import read_shortlist_measurements
from goldcrest.files import read_json, write_text
from goldcrest.job import job
from goldcrest.report.experiment_page import FIGURES, experiment_page
from goldcrest.report.gpu import gpu_tables
from goldcrest.report.results import Results
from goldcrest.report.run_time import run_time_table
from goldcrest.report.shortlist import shortlist_table
from goldcrest.report.speeds import benchmark_table

with job(snakemake.log[0]):
    files, params, output = snakemake.input, snakemake.params, Path(snakemake.output[0])
    results = Results.read(params.config, files.quality, files.sizes, files.speed, files.latency)
    links = {
        FIGURES[Path(path).stem]: os.path.relpath(path, output.parent) for path in files.figures
    }
    run_time = run_time_table(params.benchmarks)
    further = []
    if files.shortlists:
        further.append(shortlist_table(read_shortlist_measurements(files.shortlists)))
    for path in files.gpu:
        further += gpu_tables(results, read_gpu_speeds(path))
    further += [benchmark_table(read_json(path)) for path in files.engines]
    write_text(output, experiment_page(results, run_time, params.config, links, further))
