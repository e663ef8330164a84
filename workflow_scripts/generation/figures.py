"""Draw the figures of movement pruning (rule generation_figures), from its records."""

from weebill.workflow.job import job

from weebill.report.figures import save
from weebill.report.generation_figures import FIGURES
from weebill.report.generation_results import read_results

with job(snakemake.log[0]):
    params = snakemake.params
    results = read_results(params.config, snakemake.input, params.pruned)
    for name in params.names:
        save(FIGURES[name](results), params.folder, name)
