"""Score the kept rows of a table (rules score_…), by a model, into a table of one column."""

from weebill.workflow.job import job

from weebill.corpus.scores.combination import combined_scorer
from weebill.corpus.scores.language_model import cross_entropy
from weebill.corpus.scores.lexical_translation import log_probability
from weebill.corpus.scores.scoring import score_corpus
from weebill.experiment.scores import SCORES
from weebill.files import content_hash

with job(snakemake.log[0]):
    params, model = snakemake.params, str(snakemake.input.model)
    made_by = {"model": content_hash(model), "code": params.code}
    beside = {}
    if params.score == "reverse_model":
        import torch  # slow to import, and not used by language models

        from weebill.translation.force_decoding import load_reverse_scorer

        torch.set_num_threads(snakemake.threads)
        device = "cuda" if params.accelerator == "gpu" else "cpu"
        made_by |= {"device": device, "threads": snakemake.threads, "torch": torch.__version__}
        made_by["languages"] = params.languages
        scorer = load_reverse_scorer(model, device, tuple(params.languages))
    elif params.score == "lexical_translation":
        scorer = log_probability(model)
    elif params.score == "combined":
        scorer = combined_scorer(model, tuple(params.languages))
        made_by["languages"] = params.languages
        beside = dict(zip(params.components, snakemake.input.beside, strict=True))
    else:
        scorer = cross_entropy(model)
    score = SCORES[params.score]
    score_corpus(snakemake.input.corpus, snakemake.output[0], score, scorer, made_by, beside)
