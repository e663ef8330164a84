"""Draw the figures of metrics (rule metric_figures), those of COMETINHO, from agreements, sizes and times."""

from weebill.workflow.job import job

from weebill.report.figures import save
from weebill.report.metric_figures import CURVES, TIMES, layer_weights, quality_curve, time_figure
from weebill.report.metric_results import read_results

with job(snakemake.log[0]):
    results = read_results(snakemake.params.config, snakemake.input)
    for name in snakemake.params.names:
        if name in TIMES:
            chart = time_figure(results, name)
        elif name in CURVES:
            chart = quality_curve(results, name)
        else:
            chart = layer_weights(results)
        save(chart, snakemake.params.folder, name)
