"""Measure a variant's perplexity on the test text (rule measure_perplexity)."""

from weebill.workflow.job import job

from pathlib import Path

from weebill.evaluation.quality.generation_quality import Measured, text_quality
from weebill.files import write_json
from weebill.generation.data import read_part
from weebill.generation.models import load_generator
from weebill.generation.perplexity import surprise
from weebill.generation.settings import Device

with job(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    device = Device(params.hardware["accelerator"], snakemake.threads)
    generator = load_generator(given.model[0]).on(device)
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
    write_json(snakemake.output[0], rows)
