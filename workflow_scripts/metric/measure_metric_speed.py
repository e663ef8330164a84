"""Time metrics (rule measure_metric_speed): by systems, by segments, and by candidates to choose from.

From models and a test set with several systems' translations into seconds.
"""

from goldcrest.evaluation.metric_speed import Text, measure_metrics
from goldcrest.files import write_json
from goldcrest.job import job
from goldcrest.metric.candidates import varied
from goldcrest.metric.folder import load_metric
from goldcrest.text_files import read_lines

with job(snakemake.log[0]):
    params, speed = snakemake.params, snakemake.params.speed

    def read(path):
        lines = list(read_lines(path))
        kept = speed.get("segments", len(lines))
        return lines[:: max(1, len(lines) // kept)][:kept]

    text = Text(
        read(speed["sources"]),
        read(speed["references"]) if "references" in speed else None,
        {path: read(path) for path in speed["systems"]},
    )
    references = [] if text.references is None else [text.references]
    columns = list(zip(*references, *text.systems.values(), strict=True))
    most = max(speed["candidates"])
    candidates = [
        (text.sources[row], varied(columns[row], most))
        for row in range(min(speed["candidate_sources"], len(columns)))
    ]
    rows = measure_metrics(
        dict(zip(params.names, map(load_metric, snakemake.input.models), strict=True)),
        text,
        candidates,
        speed["candidates"],
        precision=params.precision,
        rounds=speed["rounds"],
    )
    write_json(snakemake.output[0], [row.to_dict() for row in rows])
