"""Add changed copies of rows to a training text (rule augment_text).

Write one table of the rows and their copies. Its column `augmented_by` names the change of each copy.
"""

from weebill.workflow.job import job

import logging

from weebill.corpus.augmentation import augment_table
from weebill.corpus.robustness import Augmentation

with job(snakemake.log[0]):
    counts = augment_table(
        snakemake.input[0],
        snakemake.output[0],
        Augmentation(**snakemake.params.augmentation),
        snakemake.params.languages,
        snakemake.params.seed,
    )
    logging.info("copies: %s", ", ".join(f"{kind} {count:,}" for kind, count in counts.items()))
