"""Time all variants of a model, interleaved, on the test text (rule measure_generation_speed)."""

from weebill.workflow.job import job

from pathlib import Path

from weebill.evaluation.timing.generation_speed import measure_generation
from weebill.files import write_json

if __name__ == "__main__":  # the worker processes import this file
    with job(snakemake.log[0]):
        params, models = snakemake.params, map(Path, snakemake.input.models)
        speeds = measure_generation(
            dict(zip(params.variants, models, strict=True)),
            Path(snakemake.input.data),
            **params.speed,
            accelerator=params.accelerator,
        )
        write_json(snakemake.output[0], speeds)
