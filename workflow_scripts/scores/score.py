"""Score the kept rows of a table with a language or lexical model; write a table of one column (rules score_…)."""

from weebill.workflow.job import job

from weebill.corpus.scores.language_model import cross_entropy
from weebill.corpus.scores.lexical_translation import log_ratio
from weebill.corpus.scores.scoring import score_corpus
from weebill.experiment.scores import SCORES
from weebill.files import content_hash

with job(snakemake.log[0]):
    files, name = snakemake.input, snakemake.params.score
    made_by = {"model": content_hash(files.model), "code": snakemake.params.code}
    load = log_ratio if name == "lexical_translation" else cross_entropy
    score_corpus(files.corpus, snakemake.output[0], SCORES[name], load(files.model), made_by)
