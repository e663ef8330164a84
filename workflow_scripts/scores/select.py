"""Drop rows by their scores (rules select_corpus and select_distilled).

Read a table and the tables of its scores, verify row counts, and write the table with the scores as columns.
"""

from weebill.workflow.job import job

from pathlib import Path

from weebill.corpus.scores.selection import ScoreTable, select
from weebill.experiment.scores import Cut

with job(snakemake.log[0]):
    settings = snakemake.params.scores.items()
    tables = [
        ScoreTable(name, Path(path), Cut(**values["cut"]), values.get("weight_scale", 0.0))
        for (name, values), path in zip(settings, snakemake.input.scores, strict=True)
    ]
    select(snakemake.input.corpus, snakemake.output[0], tables)
