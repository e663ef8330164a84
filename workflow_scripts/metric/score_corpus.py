"""Score rows of source, translation and reference by the mean of the reference models, in parts (score_corpus)."""

from weebill.workflow.job import job

import torch

from weebill.kernels.accelerator import device_of
from weebill.metric.distillation_corpus import score_tuples

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    params = snakemake.params
    score_tuples(
        snakemake.input.corpus,
        snakemake.input.models,
        params.precision,
        device_of(params.accelerator),
        snakemake.output[0],
    )
