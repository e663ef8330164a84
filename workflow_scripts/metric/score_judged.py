"""Score a judged set with a lexical metric, with models, or from a file of scores (rule score_judged).

Read the judgements and the models, and write a score for each segment, with the name of its scorer.
"""

from weebill.workflow.job import job

import torch

from weebill.files import write_json
from weebill.kernels.accelerator import device_of
from weebill.metric.judged_scores import scores_of
from weebill.metric.judged_set import JudgedSet

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    params, name = snakemake.params, snakemake.wildcards.metric
    judged = JudgedSet.read(snakemake.wildcards.judged, params.entry)
    found = scores_of(
        name,
        judged,
        snakemake.input.models,
        params.entry["scores"].get(name),
        precision=params.precision,
        device=device_of(params.accelerator),
    )
    write_json(snakemake.output[0], found.to_dict())
