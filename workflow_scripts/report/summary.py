"""Write the page of all results (rule summary), from measurements and Snakemake's benchmarks."""

from weebill.workflow.job import job

import os
from pathlib import Path

from weebill.evaluation.quality.shortlist import read_shortlist_measurements
from weebill.evaluation.timing.gpu_speed import read_gpu_speeds
from weebill.files import read_json, write_text
from weebill.report.experiment_page import FIGURES, experiment_page
from weebill.report.gpu import gpu_tables
from weebill.report.results import Results
from weebill.report.run_time import run_time_table
from weebill.report.shortlist import shortlist_table
from weebill.report.speeds import benchmark_table

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
