"""Cut a reference metric (rule prune_metric): top layers, neurons and heads, by the gradient of its loss (§4).

From the metric and tables of judgements into a metric's folder.
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
