"""Measure how well a variant predicts the test text (rule measure_perplexity)."""

from pathlib import Path

from goldcrest.evaluation.generation.quality import Measured, text_quality
from goldcrest.files import write_json
from goldcrest.generation.data import read_part
from goldcrest.generation.models import load_generator
from goldcrest.generation.perplexity import surprise
from goldcrest.generation.settings import Device
from goldcrest.job import job

with job(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    device = Device(params.hardware["accelerator"], snakemake.threads)
    generator = device.placed(load_generator(given.model[0]))
    texts = [row["text"] for row in read_part(given.data, "test")]
    found = surprise(generator, texts, **params.perplexity)
    measured = Measured(
        snakemake.wildcards.variant,
        params.data,
        Path(given.data),
        Path(given.model[0]),
        params.seed,
    )
    rows = text_quality(measured, found, **params.perplexity, resamples=params.resamples)
    write_json(snakemake.output[0], [row.to_dict() for row in rows])
