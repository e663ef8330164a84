"""Train the tokenizer of a small encoder on text files with one sentence per line, and write tokenizer.json."""

from weebill.workflow.job import job

from itertools import chain

from weebill.corpus.sampling import draw_items
from weebill.metric.tokenizer import make_tokenizer
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    lines = chain.from_iterable(map(read_lines, snakemake.input.texts))
    sample = draw_items(lines, snakemake.params.sentences, snakemake.params.seed)
    make_tokenizer(snakemake.output[0], sample, snakemake.params.pieces)
