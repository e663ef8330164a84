"""Draw the figures without timings (rule figures), from sizes, shapes, comparisons and the head map."""

from weebill.workflow.job import job

import csv
from pathlib import Path

from weebill.report import figures, pruning_figures
from weebill.report.results import Results

with job(snakemake.log[0]):
    files = snakemake.input
    results = Results.read(
        snakemake.params.config, files.quality, files.sizes, comparisons=files.comparisons
    )
    charts = {"sizes": figures.sizes(results), "heads": figures.heads(results)}
    if results.comparisons:
        with Path(files.heads).open(encoding="utf-8", newline="") as file:
            charts["head_maps"] = pruning_figures.head_maps(list(csv.DictReader(file)))
        charts["quality_by_heads"] = pruning_figures.quality_by_heads(results)
        charts["quality_by_neurons"] = pruning_figures.quality_by_neurons(results)
    for name, chart in charts.items():
        figures.save(chart, snakemake.params.folder, name)
