"""Read bicleaner's scores into a table of one column, with the corpus' rows (rule score_by_bicleaner)."""

from weebill.workflow.job import job

from weebill.corpus.bicleaner.exchange import join_scores
from weebill.experiment.scores import SCORES

with job(snakemake.log[0]):
    files = snakemake.input
    join_scores(files.corpus, files.pairs, files.parts, snakemake.output[0], SCORES["bicleaner"])
