"""Align a training text on the pieces of a vocabulary, and write the text with its links (rule align_text)."""

from weebill.workflow.job import job

import logging
from pathlib import Path

from weebill.translation.training.aligned_text import align_text
from weebill_runtime.vocabulary import read_vocabulary

with job(snakemake.log[0]):
    rows = align_text(
        Path(snakemake.input.text),
        Path(snakemake.output[0]),
        read_vocabulary(*snakemake.input.vocabulary),
        snakemake.params.seed,
        snakemake.params.pairs_at_once,
    )
    logging.info("%s rows with links", f"{rows:,}")
