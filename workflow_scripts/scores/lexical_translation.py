"""Count translations of words in cleaned corpora or text files, and write a table (rule lexical_translation)."""

from weebill.workflow.job import job

from itertools import chain
from pathlib import Path

from weebill.corpus.cleaning.preparation import Thresholds, prepare_rows
from weebill.corpus.importers.reading import Controls, TextFile
from weebill.corpus.scores.lexical_translation import estimate
from weebill.corpus.table import read_batches


def corpus_pairs(table):
    """Return source and target of a corpus' kept rows."""
    for batch in read_batches(table, ["source", "target"]):
        yield from zip(*(side.to_pylist() for side in batch.columns), strict=True)


with job(snakemake.log[0]):
    texts, params = snakemake.input, snakemake.params
    if corpora := texts.get("corpora"):
        pairs = map(corpus_pairs, corpora)
    else:
        files = zip(map(Path, texts.source), map(Path, texts.target), strict=True)
        rows = (Controls("replace").pairs(TextFile(one), TextFile(other)) for one, other in files)
        how = params.languages, Thresholds(params.decode_entities), params.punctuation
        pairs = (prepare_rows(text, *how) for text in rows)
    estimate(chain.from_iterable(pairs), snakemake.output[0], params.pairs, params.seed)
