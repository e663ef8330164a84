"""Train the vocabulary of both languages, or one of each, on kept text, with equal random samples of both sides."""

from weebill.workflow.job import job

from weebill.experiment.vocabularies import vocabulary_parts
from weebill.translation.model.vocabulary import sampled_texts, train_vocabulary
from weebill_runtime.normalisation import Normalisation

with job(snakemake.log[0]):
    params = snakemake.params
    normalisation = None  # for metric experiments, which clean nothing
    if params.languages:
        normalisation = Normalisation.of(params.languages, params.punctuation)
    parts = vocabulary_parts(snakemake.wildcards.size)
    for path, (size, sides) in zip(snakemake.output, parts, strict=True):
        texts = sampled_texts(snakemake.input.corpora, sides, params.seed)
        settings = {**params.settings, "normalisation": normalisation}
        train_vocabulary(texts, path, size, params.seed, **settings)
