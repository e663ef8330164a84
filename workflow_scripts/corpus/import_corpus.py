"""Import a corpus, a test set or the validation set: from files, sacreBLEU or the grammar into a table."""

from goldcrest.corpus.importers import import_corpus
from goldcrest.job import job

with job(snakemake.log[0]):
    import_corpus(
        snakemake.output[0],
        snakemake.params.name,
        snakemake.params.entries,
        tuple(snakemake.params.languages),
        monolingual=snakemake.params.monolingual,
        shard_rows=snakemake.params.shard_rows,
    )
