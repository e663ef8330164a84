"""Score the kept rows of a table (rules score_…), by a model, into a table of one column."""

from goldcrest.corpus.scores.language_model import cross_entropy
from goldcrest.corpus.scores.registry import SCORES
from goldcrest.corpus.scores.scoring import score_corpus
from goldcrest.files import content_hash
from goldcrest.job import job

with job(snakemake.log[0]):
    params = snakemake.params
    made_by = {"model": content_hash(snakemake.input.model), "code": params.code}
    if params.score == "reverse_model":
        import torch  # slow to import, and not used by language models

        from goldcrest.translation.forced import load_reverse_scorer

        torch.set_num_threads(snakemake.threads)
        device = "cuda" if params.accelerator == "gpu" else "cpu"
        made_by |= {"device": device, "threads": snakemake.threads, "torch": torch.__version__}
        scorer = load_reverse_scorer(snakemake.input.model, device)
    else:
        scorer = cross_entropy(snakemake.input.model)
    score_corpus(snakemake.input.corpus, snakemake.output[0], SCORES[params.score], scorer, made_by)
