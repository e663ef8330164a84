"""Score the kept rows of a table with a model of the reverse direction, and write a table of one column."""

from weebill.workflow.job import job

import torch

from weebill.corpus.scores.scoring import score_corpus
from weebill.experiment.scores import SCORES
from weebill.files import content_hash
from weebill.kernels.accelerator import device_of
from weebill.translation.force_decoding import load_reverse_scorer
from weebill.translation.running import precision_on

with job(snakemake.log[0]):
    params, model = snakemake.params, str(snakemake.input.model)
    torch.set_num_threads(snakemake.threads)
    device = device_of(params.accelerator)
    made_by = {"model": content_hash(model), "code": params.code, "device": device}
    precision = "float32" if device == "cpu" else precision_on(device, params.precision)
    made_by |= {"precision": precision, "threads": snakemake.threads, "torch": torch.__version__}
    made_by["languages"] = params.languages
    scorer = load_reverse_scorer(model, device, tuple(params.languages), precision)
    score = SCORES["reverse_model"]
    score_corpus(snakemake.input.corpus, snakemake.output[0], score, scorer, made_by)
