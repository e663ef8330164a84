"""Write a table of all heads of pruned students (removed or kept, step, score) from pruning.json."""

from weebill.workflow.job import job

from weebill.files import read_json, write_text
from weebill.pruning.history import head_rows, to_csv

with job(snakemake.log[0]):
    rows = [
        {"student": student, "recipe": recipe, **row}
        for (student, recipe), path in zip(snakemake.params.variants, snakemake.input, strict=True)
        for row in head_rows(read_json(path))
    ]
    write_text(snakemake.output[0], to_csv(rows))
