"""Check that a teacher translates, and write its BLEU on the validation set (rule check_teacher)."""

from weebill.workflow.job import job

import torch

from weebill.evaluation.quality.teacher_check import check_teachers
from weebill.files import write_json
from weebill.kernels.accelerator import device_of

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    params = snakemake.params
    found = check_teachers(
        list(snakemake.input.teacher),
        snakemake.input.validation,
        params.least_bleu,
        languages=tuple(params.languages),
        target=params.target,
        device=device_of(params.accelerator),
        side=params.side,
    )
    write_json(snakemake.output[0], found)
