"""Train a shared SentencePiece vocabulary on the kept pairs of all corpora, and write vocab.spm."""

from weebill.workflow.job import job

from weebill.corpus.normalisation import Normalisation
from weebill.translation.model.vocabulary import corpus_texts, train_vocabulary

with job(snakemake.log[0]):
    params = snakemake.params
    normalisation = None  # in metric experiments, which clean nothing
    if params.languages:
        normalisation = Normalisation.of(params.languages, params.punctuation)
    train_vocabulary(
        corpus_texts(snakemake.input.corpora),
        snakemake.output[0],
        int(snakemake.wildcards.size),
        params.seed,
        normalisation=normalisation,
        **params.settings,
    )
