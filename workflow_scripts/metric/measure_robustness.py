"""Measure how metrics' scores decrease when translations are damaged (rule measure_robustness)."""

from weebill.workflow.job import job

from weebill.evaluation.quality.robustness import measure_robustness
from weebill.files import read_json, write_json
from weebill.metric.judged_set import JudgedSet, MetricScores

with job(snakemake.log[0]):
    params, inputs = snakemake.params, snakemake.input
    judged, damaged = (
        JudgedSet.read(snakemake.wildcards.judged, entry)
        for entry in (params.entry, params.damaged_entry)
    )
    rows = []
    for pair in zip(inputs.scores, inputs.damaged_scores, strict=True):
        scores = (MetricScores.from_dict(read_json(path)) for path in pair)
        rows += measure_robustness(
            judged, damaged, *scores, resamples=params.resamples, seed=params.seed
        )
    write_json(snakemake.output[0], rows)
