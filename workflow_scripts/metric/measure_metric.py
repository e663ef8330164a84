"""Measure a metric's size (rule measure_metric): from its model into parameters, bytes and layer weights."""

from weebill.workflow.job import job

from weebill.evaluation.size.metric_size import measure_size
from weebill.files import write_json
from weebill.metric.folder import load_metric

with job(snakemake.log[0]):
    metric = load_metric(snakemake.input.model)
    write_json(snakemake.output[0], measure_size(snakemake.wildcards.metric, metric).to_dict())
