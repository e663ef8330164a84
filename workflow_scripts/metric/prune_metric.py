"""Prune top layers, neurons and heads of a reference metric by the gradient of its loss (rule prune_metric; §4).

Read the metric and tables of judgements, and write a metric folder.
"""

from weebill.workflow.job import job

import torch

from weebill.metric.pruning import make_pruned

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    params = snakemake.params
    make_pruned(
        snakemake.output[0],
        snakemake.input.metric,
        params.recipe,
        params.judgements,
        params.segments,
        params.seed,
        params.normalise,
        params.validation_share,
    )
