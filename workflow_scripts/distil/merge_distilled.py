"""Merge the translated shards of all corpora (rule merge_distilled).

From the corpora and their n-best tables, line counts and rows verified, into the students' training table.
"""

import logging

from goldcrest.job import job
from goldcrest.translation.distillation import Translated, merge

with job(snakemake.log[0]):
    count, shards = snakemake.params.shards, snakemake.input.shards
    parts = [
        Translated(corpus, shards[number * count : (number + 1) * count])
        for number, corpus in enumerate(snakemake.input.corpora)
    ]
    counts = merge(parts, snakemake.output.training, snakemake.params.may_be_empty)
    logging.info(
        "%s rows, %s of them written, %s with an empty translation left out",
        *(f"{counts[name]:,}" for name in ("read", "written", "empty")),
    )
