"""Time metrics by number of systems, segments and candidates to choose from (rule measure_metric_speed).

Read models and a test set with several systems' translations, and write seconds.
"""

from weebill.workflow.job import job

from weebill.evaluation.timing.metric_speed import Text, measure_metrics
from weebill.files import write_json
from weebill.metric.folder import load_metric

with job(snakemake.log[0]):
    params, speed = snakemake.params, snakemake.params.speed
    text = Text.read(
        speed["sources"], speed.get("references"), speed["systems"], speed.get("segments")
    )
    rows = measure_metrics(
        dict(zip(params.names, map(load_metric, snakemake.input.models), strict=True)),
        text,
        text.candidates(speed["candidate_sources"], max(speed["candidates"])),
        speed["candidates"],
        precision=params.precision,
        rounds=speed["rounds"],
    )
    write_json(snakemake.output[0], rows)
