"""Join pairs and their translations (rule join_translations) into rows of source, translation and reference."""

from weebill.workflow.job import job

from weebill.metric.distillation_corpus import join_translations

with job(snakemake.log[0]):
    tables = list(zip(snakemake.input.translations, snakemake.params.columns, strict=True))
    join_translations(snakemake.input.pairs, tables, snakemake.output[0])
