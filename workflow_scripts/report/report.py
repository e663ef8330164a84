"""Write the report: the answer first, then a section for each stage (rule write_report)."""

from weebill.workflow.job import job

from pkgutil import resolve_name

from weebill.files import write_text
from weebill.report.costs import read_jobs
from weebill.report.document import Exhibit, render
from weebill.report.results import Results

with job(snakemake.log[0]):
    params, files = snakemake.params, dict(snakemake.input.items())
    kind = resolve_name(f"weebill.report.front.{params.config['kind']}")
    results = Results.read(params.config, files)
    jobs = read_jobs(params.benchmarks)
    page = render(
        kind.front(results, jobs, params.stages),
        kind.examples(results, files),
        [Exhibit(*one, params.config) for one in params.exhibits],
        jobs,
        params.stages,
    )
    write_text(snakemake.output[0], page)
