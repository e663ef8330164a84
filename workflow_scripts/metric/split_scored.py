"""Split the scored rows into a training and a validation table (rule split_scored)."""

from weebill.workflow.job import job

from weebill.corpus.table import read_batches
from weebill.metric.training_table import write_split

with job(snakemake.log[0]):
    batches = (batch.to_pandas() for path in snakemake.input for batch in read_batches(path))
    output = snakemake.output
    write_split(batches, output.training, output.validation, snakemake.params.validation_share)
