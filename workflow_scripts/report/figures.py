"""Draw the figures without timings (rule figures), from sizes and shapes."""

from goldcrest.job import job
from goldcrest.report import figures
from goldcrest.report.results import Results

with job(snakemake.log[0]):
    files = snakemake.input
    results = Results.read(snakemake.params.config, files.quality, files.sizes)
    figures.save(figures.sizes(results), snakemake.params.folder, "sizes")
    figures.save(figures.heads(results), snakemake.params.folder, "heads")
