"""Write a published vocabulary, or each of two, with only the commonest pieces (rule cut_vocabulary)."""

from weebill.workflow.job import job

from weebill.experiment.vocabularies import vocabulary_parts
from weebill.translation.model.folder import load_model
from weebill.translation.model.smaller_vocabulary import cut_vocabulary
from weebill.translation.model.vocabulary import corpus_texts

with job(snakemake.log[0]):
    published = load_model(snakemake.input.published).vocabulary
    parts = vocabulary_parts(snakemake.wildcards.size)
    for path, (size, sides) in zip(snakemake.output, parts, strict=True):
        texts = corpus_texts(snakemake.input.corpora, sides)
        cut_vocabulary(getattr(published, sides[-1]), texts, size, path)
