"""Draw figures of measurements as PNG, SVG and interactive pages (rules of rules/report.smk)."""

from weebill.workflow.job import job

from pathlib import Path

from weebill.report.catalogue import makers
from weebill.report.figures.drawing import save
from weebill.report.results import Results

with job(snakemake.log[0]):
    params = snakemake.params
    results = Results.read(params.config, dict(snakemake.input.items()))
    make = makers("figures", params.config["kind"])
    for name in params.names:
        save(make[name](results), params.folder, Path(name).name)
