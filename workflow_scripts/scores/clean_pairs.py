"""Draw bicleaner's training pairs from cleaned corpora and their scores (rule clean_pairs)."""

from weebill.workflow.job import job

from weebill.corpus.bicleaner.clean_pairs import write_clean_pairs

with job(snakemake.log[0]):
    params, tables = snakemake.params, iter(snakemake.input.scores)
    corpora = {
        corpus: [(name, next(tables)) for name in names]
        for corpus, names in zip(snakemake.input.corpora, params.scores, strict=True)
    }
    write_clean_pairs(corpora, snakemake.output[0], params.pairs, params.cleanest, params.seed)
