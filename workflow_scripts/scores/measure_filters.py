"""Measure filters and scores on labelled pairs, and write a table (rule measure_filters)."""

from weebill.workflow.job import job

from weebill.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
from weebill.corpus.cleaning.pairs import Context
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.labelled import load_labelled, measure
from weebill.corpus.scores.scoring import read_score
from weebill.report.rendering import write_table
from weebill.report.tables.filters import filters_table

with job(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    languages = tuple(params.languages)
    identifier = None
    if params.language_id is not None:
        given = LanguageId(**{**params.language_id, "model": files.language_id[0]})
        identifier = LanguageIdentifier(given, languages)
    context = Context(Rules(**params.rules), identifier)
    labelled = load_labelled(files.labelled)
    tables = zip(params.scores, files.scores, strict=True)
    scores = {name: read_score(table, name) for name, table in tables}
    qualities = measure(labelled, languages, context, scores, params.seed, params.resamples)
    good = int(labelled.good.sum())
    write_table(filters_table(qualities, len(labelled.good), good), params.folder)
