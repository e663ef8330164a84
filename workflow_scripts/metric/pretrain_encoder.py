"""Pre-train a small XLM-R by masked language modelling, from text files and a tokenizer into an encoder's folder."""

from pathlib import Path

import torch

from goldcrest.job import job
from goldcrest.metric.pretraining import PretrainingSettings, pretrain
from goldcrest.text_files import read_lines

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    output = Path(snakemake.output[0])
    pretrain(
        PretrainingSettings(**snakemake.params.settings),
        [line for path in snakemake.input.texts for line in read_lines(path)],
        snakemake.input.tokenizer,
        output,
        output.with_name(f"{output.name}.work"),
        seed=snakemake.params.seed,
        device=snakemake.params.device,
    )
