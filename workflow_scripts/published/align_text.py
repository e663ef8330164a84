"""Add the links of a published student's attention to a training text (rule align_by_published)."""

from weebill.workflow.job import job

import logging

import torch

from weebill.translation.model.folder import load_model
from weebill.translation.training.aligned_by_model import align_by_model
from weebill_runtime.vocabulary import read_vocabulary

with job(snakemake.log[0]):
    torch.set_num_threads(snakemake.threads)
    files = snakemake.input
    model, vocabulary = load_model(files.published), read_vocabulary(*files.vocabulary)
    rows = align_by_model(files.text, snakemake.output[0], model, vocabulary)
    logging.info("%s rows with links", f"{rows:,}")
