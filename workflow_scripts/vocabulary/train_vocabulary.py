"""Train a shared SentencePiece vocabulary on the kept pairs of all corpora, and write vocab.spm."""

from weebill.workflow.job import job

from weebill.translation.model.vocabulary import corpus_texts, train_vocabulary

with job(snakemake.log[0]):
    train_vocabulary(
        corpus_texts(snakemake.input.corpora),
        snakemake.output[0],
        int(snakemake.wildcards.size),
        snakemake.params.seed,
    )
