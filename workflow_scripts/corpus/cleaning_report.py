"""Report what cleaning did: from the cleaned corpora into tables, a page to read, and a figure."""

from goldcrest.corpus.figure import cleaning_figure, save_figure
from goldcrest.corpus.report import (
    as_json,
    as_markdown,
    corpus_report,
    noise_csv,
    waterfall_csv,
)
from goldcrest.files import write_json, write_text
from goldcrest.job import job

with job(snakemake.log[0]):
    tables = zip(snakemake.params.corpora, snakemake.input.corpora, strict=True)
    reports = [corpus_report(name, table) for name, table in tables]
    write_json(snakemake.output.json, as_json(reports))
    write_text(snakemake.output.csv, waterfall_csv(reports))
    write_text(snakemake.output.noise, noise_csv(reports))
    write_text(snakemake.output.markdown, as_markdown(reports))
    figure = cleaning_figure(reports)
    for path in snakemake.output.figures:
        save_figure(figure, path)
    save_figure(figure, snakemake.output.page)
