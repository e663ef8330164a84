"""Score the kept rows of a table with a model of the reverse direction, and write a table of one column."""

from weebill.workflow.job import job

import torch

from weebill.corpus.scores.scoring import score_corpus
from weebill.experiment.scores import SCORES
from weebill.files import content_hash
from weebill.translation.force_decoding import load_reverse_scorer

with job(snakemake.log[0]):
    params, model = snakemake.params, str(snakemake.input.model)
    torch.set_num_threads(snakemake.threads)
    device = "cuda" if params.accelerator == "gpu" else "cpu"
    made_by = {"model": content_hash(model), "code": params.code, "device": device}
    made_by |= {"threads": snakemake.threads, "torch": torch.__version__}
    made_by["languages"] = params.languages
    scorer = load_reverse_scorer(model, device, tuple(params.languages))
    score = SCORES["reverse_model"]
    score_corpus(snakemake.input.corpus, snakemake.output[0], score, scorer, made_by)
