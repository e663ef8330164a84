"""Fit the weights of the combined score on labelled pairs and their scores (rule combine_scores)."""

from weebill.workflow.job import job

from weebill.corpus.labelled import load_labelled
from weebill.corpus.scores.combination import features_of, fit
from weebill.corpus.scores.scoring import read_score

with job(snakemake.log[0]):
    params = snakemake.params
    labelled = load_labelled(snakemake.input.labelled[0])
    tables = zip(params.scores, snakemake.input.scores, strict=True)
    scores = {name: read_score(table, name) for name, table in tables}
    texts = (labelled.sources, labelled.targets)
    features = features_of(scores, *texts, tuple(params.languages))
    fit(features, labelled.good).save(snakemake.output[0])
