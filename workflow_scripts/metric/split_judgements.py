"""Split judgements into the training and validation tables of reference models (rule split_judgements)."""

from weebill.workflow.job import job

from weebill.metric.training_table import judged_segments, write_split

with job(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    tables = [(entry["table"], entry["score"]) for entry in params.judgements]
    segments = judged_segments(tables, params.normalise)
    write_split([segments], output.training, output.validation, params.validation_share)
