"""Join the distilled corpora, after selection by scores, into the students' training table (rule join_distilled)."""

from weebill.workflow.job import job

from weebill.translation.distillation.merging import join

with job(snakemake.log[0]):
    join(snakemake.input.corpora, snakemake.output.training)
