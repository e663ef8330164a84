"""Join the distilled corpora that scores have selected (rule join_distilled) into the students' training table."""

from weebill.workflow.job import job

from weebill.translation.distillation.joining import join

with job(snakemake.log[0]):
    join(snakemake.input.corpora, snakemake.output.training)
