"""Summarize the test articles with a variant, and write one JSON string per line (rule summarize_test_set)."""

from weebill.workflow.job import job

import json
import logging

from weebill.files import write_text
from weebill.generation.data import read_part
from weebill.generation.models import load_generator, summarize
from weebill.generation.settings import Device, SearchSettings

with job(snakemake.log[0]):
    params = snakemake.params
    device = Device(params.hardware["accelerator"], snakemake.threads)
    found = summarize(
        load_generator(snakemake.input.model[0]).on(device),
        [row["article"] for row in read_part(snakemake.input.data, "test")],
        SearchSettings(**params.search),
        params.max_source,
        lambda done: logging.info("%d summaries", done),
    )
    lines = (json.dumps(text, ensure_ascii=False) + "\n" for text in found)
    write_text(snakemake.output[0], "".join(lines))
