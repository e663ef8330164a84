"""Divide the scored rows (rule split_scored) into a table to learn from and one to be validated by."""

from goldcrest.corpus.table import read_batches
from goldcrest.job import job
from goldcrest.metric.training_table import write_split

with job(snakemake.log[0]):
    batches = (batch.to_pandas() for path in snakemake.input for batch in read_batches(path))
    output = snakemake.output
    write_split(batches, output.training, output.validation, snakemake.params.validation_share)
