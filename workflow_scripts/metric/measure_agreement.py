"""Measure how well metrics' scores of a judged set agree with people (rule measure_agreement)."""

from weebill.workflow.job import job

from weebill.evaluation.quality.metric_quality import measure_agreement
from weebill.experiment.metrics import REFERENCE
from weebill.files import read_json, write_json
from weebill.metric.judged_set import JudgedSet, MetricScores

with job(snakemake.log[0]):
    params = snakemake.params
    judged = JudgedSet.read(params.name, params.entry)
    metrics = [MetricScores.from_dict(read_json(path)) for path in snakemake.input.scores]
    rows = measure_agreement(
        judged,
        metrics,
        {one.metric: REFERENCE for one in metrics if one.metric != REFERENCE},
        resamples=params.resamples,
        permutations=params.permutations,
        seed=params.seed,
    )
    write_json(snakemake.output[0], rows)
