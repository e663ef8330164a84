"""Damage translations of a judged set (rule damage_translations)."""

from weebill.workflow.job import job

from weebill.files import write_text
from weebill.metric.damaged_translations import damaged_table
from weebill.metric.judged_set import JudgedSet

with job(snakemake.log[0]):
    params = snakemake.params
    judged = JudgedSet.read(snakemake.wildcards.judged, params.entry)
    write_text(snakemake.output[0], damaged_table(judged, params.segments, params.seed))
