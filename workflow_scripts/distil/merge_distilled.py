"""Merge translated shards (rules merge_distilled, merge_corpus and merge_back_translated).

Read corpora and their n-best tables, verify line counts and rows, and write a table of pairs.
"""

from weebill.workflow.job import job

import logging

from weebill.translation.distillation.merging import Translated, merge

with job(snakemake.log[0]):
    count, shards = snakemake.params.shards, snakemake.input.shards
    parts = [
        Translated(corpus, shards[number * count : (number + 1) * count], snakemake.params.side)
        for number, corpus in enumerate(snakemake.input.corpora)
    ]
    counts = merge(
        parts,
        snakemake.output.training,
        snakemake.params.may_be_empty,
        snakemake.params.get("max_repeats", 0),
    )
    logging.info(
        "%s rows, %s of them written, %s with an empty and %s with a repetitive translation left out",
        *(f"{counts[name]:,}" for name in ("read", "written", "empty", "repetitive")),
    )
