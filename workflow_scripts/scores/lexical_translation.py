"""Count translations of words in cleaned corpora or text files, and write a table (rule lexical_translation)."""

from weebill.workflow.job import job

from itertools import chain

from weebill.corpus.cleaning.clean import Cleaning
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.scores.lexical_translation import estimate, pairs_of_files
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
        cleaning = Cleaning(rules=Rules(**params.rules), punctuation=params.punctuation)
        files = zip(texts.source, texts.target, strict=True)
        pairs = (pairs_of_files(both, tuple(params.languages), cleaning) for both in files)
    estimate(chain.from_iterable(pairs), snakemake.output[0], params.pairs, params.seed)
