"""Make a metric folder from a checkpoint and its encoder's configuration and tokenizer (rule import_reference)."""

from weebill.workflow.job import job

from weebill.metric.folder import load_metric, save_metric

with job(snakemake.log[0]):
    params, encoder = snakemake.params, snakemake.input.encoder
    metric = load_metric(params.checkpoint, encoder[0] if encoder else None)
    lineage = {"kind": "imported", "checkpoint": params.checkpoint, "sha256": metric.sha256}
    save_metric(snakemake.output[0], metric, lineage)
