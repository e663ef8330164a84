"""Split a corpus for translation (rules split_corpus and split_target_corpus).

Write the kept rows of a table as shards. A shard has the side to translate and, if the text is parallel, references.
"""

from weebill.workflow.job import job

from weebill.translation.distillation.shards import split_corpus

with job(snakemake.log[0]):
    [corpus], params = snakemake.input, snakemake.params
    split_corpus(corpus, snakemake.output.shards, params.parallel, params.side)
