"""Import a published student of Firefox in int8 and in float32 (rule import_published)."""

from weebill.workflow.job import job

from weebill.runtime.exports.marian.firefox import import_student

with job(snakemake.log[0]):
    import_student(snakemake.input[0], snakemake.output.int8, int8=True)
    import_student(snakemake.input[0], snakemake.output.float32)
