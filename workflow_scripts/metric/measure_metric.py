"""Measure a metric's parameters, bytes and layer weights (rule measure_metric)."""

from weebill.workflow.job import job

from weebill.evaluation.size.metric_size import measure_size
from weebill.files import write_json
from weebill.metric.folder import load_metric

with job(snakemake.log[0]):
    metric = load_metric(snakemake.input.model)
    write_json(snakemake.output[0], measure_size(snakemake.wildcards.metric, metric))
