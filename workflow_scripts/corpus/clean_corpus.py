"""Clean a corpus (WNGT20 §3, WMT21 §2).

Read an imported table, the held-out sets and a language identifier. Write a table with all rows: the text is
normalised, and each rejected row has the name of the first filter that rejects it.
"""

from weebill.workflow.job import job

from weebill.corpus.cleaning.clean import Cleaning, clean_corpus
from weebill.corpus.cleaning.language_id import LanguageId
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.sources import local_file

if __name__ == "__main__":  # the worker processes import this file
    with job(snakemake.log[0]):
        identifier = snakemake.params.language_id
        if identifier is not None:
            [model] = snakemake.input.language_id
            model = str(local_file(model, identifier.get("sha256")))
            identifier = LanguageId(**{**identifier, "model": model})
        cleaning = Cleaning(
            rules=Rules(**snakemake.params.rules),
            language_id=identifier,
            punctuation=snakemake.params.punctuation,
            near_duplicates=snakemake.params.near_duplicates,
            held_out=tuple(snakemake.input.held_out),
        )
        clean_corpus(
            snakemake.input.corpus,
            snakemake.output[0],
            tuple(snakemake.params.languages),
            cleaning,
            workers=snakemake.threads,
        )
