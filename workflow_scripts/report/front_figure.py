"""Draw quality against speed and size (rule front_figure)."""

from goldcrest.job import job
from goldcrest.report import figures
from goldcrest.report.results import Results

with job(snakemake.log[0]):
    files = snakemake.input
    results = Results.read(snakemake.params.config, files.quality, files.sizes, files.speed)
    figures.save(figures.front(results), snakemake.params.folder, "front")
