"""Estimate a language model on cleaned corpora or text files, in KenLM's binary form (rule language_model)."""

from weebill.workflow.job import job

from itertools import chain

from weebill.corpus.cleaning.preparation import Thresholds, prepare_rows
from weebill.corpus.sampling import draw_items
from weebill.corpus.scores.language_model import estimate
from weebill.corpus.table import side_texts
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    params, side = snakemake.params, snakemake.wildcards.side
    texts = snakemake.input.text
    lines = chain.from_iterable(
        side_texts(text, side) if params.from_corpora else read_lines(text) for text in texts
    )
    sample = draw_items(lines, params.sentences, params.seed)
    if not params.from_corpora:
        how = [params.language], Thresholds(params.decode_entities), params.punctuation
        sample = (line for (line,) in prepare_rows(zip(sample, strict=True), *how))
    estimate(
        sample, snakemake.output[0], params.order, params.memory, params.prune, params.quantized
    )
