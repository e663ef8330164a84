"""Make a student from a published one, possibly with fewer pieces (rule import_student)."""

from weebill.workflow.job import job

from weebill.translation.model.smaller_vocabulary import make_student

with job(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    make_student(files.published, files.vocabulary, params.entry, snakemake.output[0])
