"""Import labelled pairs from tab-separated values into a table of normalised pairs (rule import_labelled)."""

from weebill.workflow.job import job

from weebill.corpus.cleaning.preparation import Thresholds
from weebill.corpus.labelled import import_labelled, read_labelled

with job(snakemake.log[0]):
    params = snakemake.params
    labelled = read_labelled(snakemake.input[0], params.columns)
    languages = tuple(params.languages)
    how = Thresholds(params.decode_entities), params.punctuation
    import_labelled(labelled, languages, snakemake.output[0], *how)
