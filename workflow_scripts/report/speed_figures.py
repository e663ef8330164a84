"""Draw quality against speed and size, of all variants and of the pruned ones (rule speed_figures)."""

from weebill.workflow.job import job

from weebill.report import figures
from weebill.report.pruning_figures import quality_by_speed
from weebill.report.results import Results

with job(snakemake.log[0]):
    files = snakemake.input
    results = Results.read(
        snakemake.params.config,
        files.quality,
        files.sizes,
        files.speed,
        comparisons=files.comparisons,
    )
    figures.save(figures.front(results), snakemake.params.folder, "front")
    if results.comparisons:
        figures.save(quality_by_speed(results), snakemake.params.folder, "quality_by_speed")
