"""Split a corpus for translation (rules split_corpus and split_target_corpus).

From a table into shards of its kept rows with the side to translate, and references where the text is parallel.
"""

from weebill.workflow.job import job

from weebill.translation.distillation.splitting import split_corpus

with job(snakemake.log[0]):
    [corpus], params = snakemake.input, snakemake.params
    split_corpus(corpus, snakemake.output.shards, params.parallel, params.side)
