"""Split a cleaned corpus for translation (rule split_corpus).

From a corpus table into shards of its kept rows, without references where it is monolingual.
"""

from goldcrest.job import job
from goldcrest.translation.distillation import split_corpus

with job(snakemake.log[0]):
    split_corpus(snakemake.input.corpus, snakemake.output.shards, snakemake.params.parallel)
