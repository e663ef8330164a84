"""Select pairs for distilling a metric, and separate pairs for training the translators (rule select_pairs)."""

from weebill.workflow.job import job

from pathlib import Path

from weebill.metric.distillation_corpus import select_pairs

with job(snakemake.log[0]):
    output = (Path(path) for path in snakemake.output)  # pairs, training, validation
    select_pairs(snakemake.wildcards.pairs, snakemake.params.entry, snakemake.params.seed, *output)
