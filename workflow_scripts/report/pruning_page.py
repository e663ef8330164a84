"""Write the page of what pruning is worth (rule pruning_page), from measurements and Snakemake's benchmarks."""

from weebill.workflow.job import job

import os
from pathlib import Path

from weebill.evaluation.quality.seeds import read_seeds_comparisons
from weebill.files import write_text
from weebill.report.pruning_page import FIGURES, pruning_page
from weebill.report.results import Results
from weebill.report.run_time import run_time_table

with job(snakemake.log[0]):
    files, params, output = snakemake.input, snakemake.params, Path(snakemake.output[0])
    results = Results.read(
        params.config, files.quality, files.sizes, files.speed, comparisons=files.comparisons
    )
    paths = {Path(path).stem: os.path.relpath(path, output.parent) for path in files.figures}
    links = {heading: paths[name] for name, heading in FIGURES.items()}
    run_time = run_time_table(params.benchmarks)
    seeds = read_seeds_comparisons(files.seeds)
    write_text(output, pruning_page(results, run_time, params.config, links, seeds))
