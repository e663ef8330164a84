"""Summarize the test articles with a variant, and write one JSON string per line (rule summarize_test_set)."""

from weebill.workflow.job import job

import json

from weebill.files import write_text
from weebill.generation.data import read_part
from weebill.generation.models import GPU_PRECISION, load_generator, summarize
from weebill.generation.settings import Device, SearchSettings
from weebill.workflow.progress import tell

with job(snakemake.log[0]):
    params = snakemake.params
    device = Device(params.hardware["accelerator"], snakemake.threads)
    articles = [params.prefix + row["article"] for row in read_part(snakemake.input.data, "test")]
    found = summarize(
        load_generator(snakemake.input.model[0]).on(device, GPU_PRECISION),
        articles,
        SearchSettings(**params.search),
        params.max_source,
        lambda done: tell(done, len(articles), "articles"),
    )
    lines = (json.dumps(text, ensure_ascii=False) + "\n" for text in found)
    write_text(snakemake.output[0], "".join(lines))
