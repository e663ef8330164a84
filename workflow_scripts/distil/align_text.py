"""Align a training text on the pieces of a vocabulary (rule align_text), into the same text with its links."""

from weebill.job import job

import logging
from pathlib import Path

from weebill.translation.aligned_text import align_text
from weebill.translation.vocabulary import Vocabulary

with job(snakemake.log[0]):
    rows = align_text(
        Path(snakemake.input.text),
        Path(snakemake.output[0]),
        Vocabulary(snakemake.input.vocabulary),
        snakemake.params.seed,
        snakemake.params.pairs_at_once,
    )
    logging.info("%s rows with links", f"{rows:,}")
