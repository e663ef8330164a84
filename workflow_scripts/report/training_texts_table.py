"""Write the table of training texts (rule training_texts_table), from comparisons, qualities and the texts."""

from weebill.workflow.job import job

from weebill.corpus.table import count_rows
from weebill.evaluation.quality.comparison import read_comparisons
from weebill.report.rendering import write_table
from weebill.report.results import Results
from weebill.report.training_texts import training_texts_table

with job(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    pairs = {kind: 0 for kinds in params.texts.values() for kind in kinds}
    for kind, table in zip(params.kinds, files.tables, strict=True):
        pairs[kind] += count_rows(table)
    results = Results.read(params.config, files.quality, [])
    comparisons = read_comparisons(files.comparisons)
    write_table(training_texts_table(results, comparisons, params.texts, pairs), params.folder)
