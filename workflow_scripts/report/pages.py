"""Write a page of results from measurements and Snakemake's benchmarks (rules of rules/report.smk)."""

from weebill.workflow.job import job

import os
from pathlib import Path

from weebill.files import write_text
from weebill.report.catalogue import maker
from weebill.report.pages.page import run_time_table
from weebill.report.results import Results

with job(snakemake.log[0]):
    params, output = snakemake.params, Path(snakemake.output[0])
    files = dict(snakemake.input.items())
    links = {
        heading: os.path.relpath(picture, output.parent)
        for heading, picture in zip(params.headings, files["pictures"], strict=True)
    }
    results = Results.read(params.config, files)
    page = maker("pages", params.page)(results, run_time_table(params.benchmarks), links)
    write_text(output, page)
