"""Write tables of measurements in all formats (rules of rules/report.smk)."""

from weebill.workflow.job import job

from weebill.report.catalogue import makers
from weebill.report.rendering import write_table
from weebill.report.results import Results

with job(snakemake.log[0]):
    params = snakemake.params
    results = Results.read(params.config, dict(snakemake.input.items()))
    make = makers("tables", params.config["kind"])
    for name in params.names:
        write_table(make[name](results), params.folder)
