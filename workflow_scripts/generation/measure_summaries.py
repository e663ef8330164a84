"""Measure ROUGE, with intervals, of a variant's summaries (rule measure_summaries)."""

from weebill.workflow.job import job

import json
from pathlib import Path

from weebill.evaluation.quality.generation_quality import Measured, summary_quality
from weebill.files import write_json
from weebill.generation.models import numbers_on
from weebill.generation.settings import Device, SearchSettings
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    measured = Measured(
        snakemake.wildcards.variant,
        params.data,
        Path(given.data),
        Path(given.model[0]),
        params.seed,
    )
    summaries = [json.loads(line) for line in read_lines(given.summaries)]
    search = SearchSettings(**params.search)
    rows = summary_quality(
        measured,
        summaries,
        search,
        params.max_source,
        params.resamples,
        params.prefix,
        numbers_on(Device(params.accelerator), given.model[0]),
    )
    write_json(snakemake.output[0], rows)
