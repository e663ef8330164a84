"""Train a small XLM-R on text files, by masked language modelling or from a teacher; write an encoder folder."""

from weebill.workflow.job import job

from itertools import chain

import torch

from weebill.corpus.sampling import draw_items
from weebill.kernels.accelerator import device_of
from weebill.metric.pretraining import pretrain
from weebill.metric.settings import AttentionDistillationSettings, PretrainingSettings
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    lines = chain.from_iterable(map(read_lines, snakemake.input.texts))
    settings = snakemake.params.settings
    kind = AttentionDistillationSettings if "teacher" in settings else PretrainingSettings
    pretrain(
        kind(**settings),
        draw_items(lines, snakemake.params.sentences, snakemake.params.seed),
        snakemake.input.tokenizer,
        snakemake.output[0],
        seed=snakemake.params.seed,
        device=device_of(snakemake.params.accelerator),
    )
