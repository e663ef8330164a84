"""Measure filters and scores (rule measure_filters), on labelled pairs, into a table."""

from goldcrest.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
from goldcrest.corpus.cleaning.pairs import Context
from goldcrest.corpus.cleaning.rules import Rules
from goldcrest.corpus.labelled import measure, read_labelled
from goldcrest.corpus.scores.language_model import cross_entropy
from goldcrest.job import job
from goldcrest.report.filters import filters_table
from goldcrest.report.rendering import write_table

with job(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    languages = tuple(params.languages)
    identifier = None
    if params.language_id is not None:
        sure = params.language_id["min_probability"]
        identifier = LanguageIdentifier(LanguageId(files.language_id[0], sure), languages)
    names = ("language_model_source", "language_model_target")
    models = zip(names, files.language_models, strict=True)
    scorers = {name: cross_entropy(model) for name, model in models}
    if files.reverse_model:
        from goldcrest.translation.forced import load_reverse_scorer  # slow to import

        scorers["reverse_model"] = load_reverse_scorer(files.reverse_model)
    labelled = read_labelled(files.labelled[0], params.columns)
    context = Context(Rules(**params.rules), identifier)
    qualities = measure(labelled, languages, context, scorers)
    good = int(labelled.good.sum())
    write_table(filters_table(qualities, len(labelled.good), good), params.folder)
