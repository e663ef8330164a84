"""Add changed copies of rows to a training text (rule augment_text).

From a training text into one table of its rows and their copies, whose column `augmented_by` says what was done.
"""

from weebill.workflow.job import job

import logging

from weebill.corpus.augmentation import Augmentation, augment_table

with job(snakemake.log[0]):
    counts = augment_table(
        snakemake.input[0],
        snakemake.output[0],
        Augmentation(**snakemake.params.augmentation),
        snakemake.params.languages,
        snakemake.params.seed,
    )
    logging.info("copies: %s", ", ".join(f"{kind} {count:,}" for kind, count in counts.items()))
