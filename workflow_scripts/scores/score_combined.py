"""Combine the scores of a table's kept rows by the weights of combine_scores, and write a table of one column."""

from weebill.workflow.job import job

from weebill.corpus.scores.combination import combined_scorer
from weebill.corpus.scores.scoring import score_corpus
from weebill.experiment.scores import SCORES
from weebill.files import content_hash

with job(snakemake.log[0]):
    params, files = snakemake.params, snakemake.input
    made_by = {"model": content_hash(files.model), "code": params.code}
    made_by["languages"] = params.languages
    scorer = combined_scorer(files.model, tuple(params.languages))
    beside = dict(zip(params.components, files.beside, strict=True))
    score = SCORES["combined"]
    score_corpus(files.corpus, snakemake.output[0], score, scorer, made_by, beside)
